/** The planted bugs of the node, and what each makes of it. */
export const NODE_MUTANTS = {
  retry_made_twice: 'a change that comes again under its name is made again',
  key_made_twice: 'a change that a client repeats with its key is made again',
  number_made_twice: 'a change that a client repeats under its number is made again',
  undecided_not_sent:
    'a leader is not told that an earlier attempt may have made the change, and refuses the next one',
  refusals_not_kept: 'a request that fails is given up where a copy of it may still be on its way',
  lost_told_as_undone: 'a leader that had to take a change back says that it will never be made',
  forwarded_again_as_new: 'a request that is sent to a leader once more gets another name',
  names_not_in_entries: 'entries do not name the request that they came from',
  results_not_in_checkpoints: 'checkpoints and snapshots lack the answers to recent changes',
  results_by_local_clock: 'the answers to recent changes age by the clock of each node',
  map_order_stored: 'what is stored depends on the order in which a node came to know other nodes',
  read_before_applied: 'a read does not wait until the state holds what its index tells',
  event_before_commit: 'clients in rooms are told of an event when its change is proposed',
  event_of_change_taken_back: 'clients in rooms are told of an event whose change is taken back',
  join_before_watched: 'the answer to a join comes before the session is in the room',
  answer_before_event: 'the answer to a change comes before the session hears the event of it',
  answers_overtake: 'what is short overtakes what is long on its way to a client',
  event_lost_when_slow: 'an event is lost where a client does not read, and its session goes on',
  shutdown_not_told: 'a node that ends does not tell its clients',
  gap_not_told: 'who listens is not told that a snapshot took the place of what happened',
  read_without_asking: 'a read does not ask the leader for an index',
  rights_not_doubted: 'a request is refused by rights that this node knows, though they may be old',
  task_ended_apart: 'what becomes of a task is not in the change of its run, but in the next one',
  tasks_not_taken_up: 'who begins to lead does not look at the tasks that there are',
  future_before_query: 'what the future of a query changes is proposed before what the query does',
  failed_future_made_again: 'a request whose future failed is carried out again when it is repeated',
  answer_before_commit: 'a change is acknowledged when it is proposed',
  prepared_answer_before_commit: 'the answer to a forwarded change leaves its leader when that is proposed',
  no_undo: 'changes are not taken back when the leadership is lost',
  lost_epoch_proposes: 'what was proposed in an epoch that has ended is taken in the next one',
  frozen_not_copied: 'what changes while a checkpoint is encoded is not encoded first as it was',
  evicted_while_frozen: 'what a checkpoint has encoded, and is not on disk yet, may leave memory',
  results_captured_late: 'a checkpoint has the answers to changes that came while it was encoded',
  index_captured_late: 'a checkpoint stands for the index that the state had a while after it began',
  membership_captured_late: 'a checkpoint has the membership of a while after it began',
  failed_checkpoint_forgotten:
    'what a checkpoint that came to nothing should have written is not written again',
  log_cut_before_checkpoint: 'the log is cut when a checkpoint has its place, before it is durable',
  membership_not_stored: 'the state does not note changes of the membership',
  error_swallowed_in_apply: 'an entry that a follower fails to apply is passed over',
  frames_not_cut: 'all messages for a node go into one frame, however much it becomes',
  invitation_stays: 'nobody notices that a node which was called has come by another way',
  ended_sessions_stay: 'a session that its user ends goes on',
  wiped_node_keeps_id: 'a node that lost its data comes back as who it was',
} as const;

export type NodeMutant = keyof typeof NODE_MUTANTS;

export function isNodeMutant(name: string): name is NodeMutant {
  return Object.hasOwn(NODE_MUTANTS, name);
}
