import type { MemberInfo, RootEditor, RootGroup } from '@althing/engine';
import type { Command, Event, JoinAnswer, Joiner, NodeId } from '../between/protocol.js';
import type { Inviter } from './inviter.js';
import { decideJoin } from './join-decision.js';
import type { PeerTable } from './peer-table.js';
import type { RootSession } from './root-session.js';

export interface AdmissionsOptions {
  readonly self: NodeId;
  readonly root: () => RootGroup;
  readonly session: () => RootSession;
  readonly peers: Pick<PeerTable, 'isUp' | 'downFor'>;
  readonly inviter: Pick<Inviter, 'answered'>;
  /**
   * Time that a node must not have been reachable before another one of its name takes its place, or a learner its
   * vote, in milliseconds.
   */
  readonly replaceAfterMs: number;
  readonly send: (command: Command) => void;
  /** Makes a change of the root state. */
  readonly propose: (edit: (editor: RootEditor) => void, done: (isDone: boolean) => void) => void;
  readonly report: (level: 'info' | 'warn', event: string, message: string) => void;
}

/**
 * Nodes that ask to join: where this node leads the root group it decides, and puts them in the list of
 * members.
 */
export class Admissions {
  /** Nodes that are being taken in, with the questions that wait for it. */
  private readonly joining = new Map<NodeId, number[]>();

  constructor(private readonly options: AdmissionsOptions) {}

  /** @param id of the question */
  asked(id: number, joiner: Joiner): void {
    const session = this.options.session();
    if (!session.leading) {
      this.answer(id, this.redirect());
      return;
    }
    const waiting = this.joining.get(joiner.nodeId);
    if (waiting !== undefined) waiting.push(id);
    else if (session.hasUncommitted || session.refusal() !== null) this.answer(id, BUSY);
    else this.admit(id, joiner);
  }

  /** A node that was called for answered. One that is a member already came by another way: nobody else will. */
  invited({ id, problem, node }: Extract<Event, { readonly kind: 'invited' }>): void {
    const { inviter, root, session, propose } = this.options;
    const isMember = node !== undefined && root().members.has(node);
    const done = inviter.answered(id, problem, isMember);
    if (done === null || !session().leading || session().hasUncommitted) return;
    propose(
      (editor) => editor.deleteInvitation(done),
      () => {},
    );
  }

  /** Where the leader of the root group is. */
  private redirect(): JoinAnswer {
    const { root, self, session } = this.options;
    const leader = root().members.get(session().leader);
    if (leader === undefined || leader.nodeId === self) {
      return { kind: 'wait', reason: 'no leader is known at the moment' };
    }
    return { kind: 'redirect', host: leader.host, port: leader.port };
  }

  private admit(id: number, joiner: Joiner): void {
    const { root, self, session, peers, replaceAfterMs, report } = this.options;
    const decision = decideJoin(joiner, {
      self,
      root: root(),
      membership: session().membership,
      isUp: (node) => peers.isUp(node),
      downFor: (node) => peers.downFor(node),
      replaceAfterMs,
    });
    if (decision.kind !== 'admit') {
      this.answer(id, decision);
      return;
    }
    const { member, replaces, invitation } = decision;
    this.joining.set(member.nodeId, [id]);
    const change = (editor: RootEditor): void => {
      if (replaces !== null) editor.putMember({ ...replaces, leaving: true });
      if (invitation !== null) editor.deleteInvitation(invitation);
      editor.putMember(member);
    };
    this.options.propose(change, (isDone) => {
      const answer: JoinAnswer = isDone ? { kind: 'accepted' } : BUSY;
      if (isDone) report('info', 'node_joins', admission(member, replaces));
      const waiting = this.joining.get(member.nodeId) ?? [];
      this.joining.delete(member.nodeId);
      for (const each of waiting) this.answer(each, answer);
    });
  }

  private answer(id: number, answer: JoinAnswer): void {
    this.options.send({ kind: 'join_answer', id, answer });
  }
}

const BUSY: JoinAnswer = { kind: 'wait', reason: 'other changes are under way' };

function admission({ number, name, host, port }: MemberInfo, replaces: MemberInfo | null): string {
  const what = replaces === null ? 'joins the cluster' : 'takes the place of the lost node of that name';
  return `node ${number} (${name}, ${host}:${port}) ${what}`;
}
