import type { Message } from 'raft-ts';
import type { GroupId } from '../between/protocol.js';

/** Groups and messages for each that are kept for groups that are about to be opened. */
const EARLY_GROUPS_MAX = 1000;
const EARLY_MESSAGES_MAX = 16;
const EARLY_TICKS = 30;

/**
 * Messages to groups that other nodes have and this one will have in a moment: the first election need not be
 * repeated.
 */
export class EarlyMessages {
  private messages = new Map<GroupId, { readonly list: Message[]; ticks: number }>();

  keep(group: GroupId, message: Message): void {
    let kept = this.messages.get(group);
    if (kept === undefined) {
      if (this.messages.size >= EARLY_GROUPS_MAX) return;
      kept = { list: [], ticks: 0 };
      this.messages.set(group, kept);
    }
    if (kept.list.length < EARLY_MESSAGES_MAX) kept.list.push(message);
  }

  take(group: GroupId): readonly Message[] {
    const kept = this.messages.get(group);
    this.messages.delete(group);
    return kept?.list ?? [];
  }

  get isEmpty(): boolean {
    return this.messages.size === 0;
  }

  tick(): void {
    for (const [group, kept] of this.messages) {
      kept.ticks += 1;
      if (kept.ticks > EARLY_TICKS) this.messages.delete(group);
    }
  }
}
