/**
 * Seeds that found a planted bug once, which are tried first. They save time and decide nothing: each change of the code
 * makes other runs of them, and where none of them finds the bug any more the search goes on with all others. When many
 * tries are needed again, `npm run simulate -- --mutants --times 3 --only ...` shows a new list.
 */
export const SEEDS_TRIED_FIRST: ReadonlyMap<string, readonly number[]> = new Map([
  ['client:doubt_forgotten', [8, 15, 23]],
  ['client:named_anew', [1, 9, 20]],
  ['node:answer_before_commit', [1, 2, 3]],
  ['node:answer_before_event', [1, 3, 8]],
  ['node:event_before_commit', [24, 25, 27]],
  ['node:event_of_change_taken_back', [24, 25, 27]],
  ['node:evicted_while_frozen', [1, 7, 13]],
  ['node:expiry_not_proposed', [3]],
  ['node:failed_checkpoint_forgotten', [24, 25, 27]],
  ['node:failed_future_made_again', [16, 24, 67]],
  ['node:feed_drops_for_slow', [1]],
  ['node:feed_skips_at_switch', [1]],
  ['node:feed_skips_entry', [1]],
  ['node:frozen_not_copied', [1, 8, 16]],
  ['node:future_before_query', [24, 67, 79]],
  ['node:index_captured_late', [1, 2, 4]],
  ['node:index_of_before', [1]],
  ['node:job_cursor_in_memory', [42, 60]],
  ['node:job_rewritten_forgotten', [6017]],
  ['node:join_before_watched', [10, 11, 16]],
  ['node:no_undo', [11, 12, 14]],
  ['node:prepared_answer_before_commit', [31, 53, 60]],
  ['node:read_before_applied', [3, 8, 9]],
  ['node:results_captured_late', [1, 4, 8]],
  ['node:retry_made_twice', [24, 29, 45]],
  ['node:task_ended_apart', [4, 9, 14, 23]],
  ['node:tasks_not_taken_up', [2, 4, 15]],
  ['read_without_quorum', [155, 166]],
  ['storage:ack_before_sync', [11, 27, 62]],
  ['storage:applied_index_outside_batch', [62, 23]],
  ['storage:generation_cleared_under_reader', [1]],
  ['storage:snapshot_within_redo', [1]],
]);
