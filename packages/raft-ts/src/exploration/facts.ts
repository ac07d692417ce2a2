/**
 * Texts that tell nodes and messages apart, for fingerprints: two nodes with the same facts do the same from
 * then on. A node's id is written `@1`, so that nodes can be renamed. Left out is what decides nothing in an
 * exploration: counters, times (no timeout runs out by itself), sequence numbers, and what members had
 * confirmed to a node that does not lead.
 */
import type { Core } from '../core.js';
import type { Message } from '../messages.js';
import { RaftNode } from '../node.js';
import type { Progress } from '../progress.js';
import { isTicket } from '../testing/cluster.js';
import type { Host } from '../testing/host.js';
import type { Entry, HardState, Membership } from '../types.js';
import type { Write } from '../writes.js';
import type { Witness } from './witness.js';

/** Everything that a node, its host and its witness are, in any order. */
export function factsOf(host: Host, witness: Witness): string[] {
  const core = RaftNode.coreOf(host.node);
  const me = `@${core.id}`;
  return [
    ...nodeFacts(core),
    ...(core.role === 'leader' ? leaderFacts(core) : []),
    ...readFacts(core),
    ...writeFacts(core, host.writes),
    ...membershipFacts(core.tracker.membership),
    ...diskFacts(host),
    ...witness.facts(),
  ].map((fact) => `${me} ${fact}`);
}

/** A message, without the order of its fields. */
export function messageFact(message: Message): string {
  const fields: string[] = [];
  for (const [name, value] of Object.entries(message)) fields.push(`${name}=${fieldText(name, value)}`);
  return fields.join(' ');
}

function fieldText(name: string, value: unknown): string {
  if (name === 'from' || name === 'to') return `@${value}`;
  if (name === 'entries' && Array.isArray(value)) return value.map(entryText).join();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function nodeFacts(core: Core): string[] {
  const { log, settings, transfer, recovery } = core;
  const attempt = settings.preVote ? core.attempt : 0;
  const facts = [
    `is ${core.role} ${core.term} @${core.vote} @${core.leader} ${attempt} ${core.quiesced} ${recovery === null && core.lostTail === 0}`,
    `durable ${core.durableTerm} @${core.durableVote} ${core.durableCommit}`,
    `handed ${core.handedTerm} @${core.handedVote} ${core.handedCommit}`,
    `due ${core.flushDue} ${core.commitDue} ${core.membershipChanged} ${core.membershipIndex}`,
    `log ${log.first} ${log.last} ${log.stable} ${log.handed} ${log.commit} ${log.applied} ${log.applying} ${log.installing}`,
  ];
  for (let index = log.first - 1; index <= log.last; index += 1) {
    facts.push(`entry ${index} ${log.termAt(index)} ${log.hashAt(index)}`);
  }
  for (const [voter, granted] of core.tracker.votes()) facts.push(`vote @${voter} ${granted}`);
  for (const id of core.asleepWithout) facts.push(`asleep without @${id}`);
  for (const message of core.outbox) facts.push(`out ${messageFact(message)}`);
  for (const message of core.gated) facts.push(`gated ${messageFact(message)}`);
  for (const { index } of core.membershipHistory) facts.push(`history ${index}`);
  if (transfer !== null) facts.push(`transfer @${transfer.to} ${transfer.told}`);
  return facts;
}

function leaderFacts(core: Core): string[] {
  const own = core.tracker.progressOf(core.id);
  const progresses = own === undefined ? core.tracker.peers : [own, ...core.tracker.peers];
  return [`leads from ${core.termStart}`, ...progresses.map(progressFact)];
}

function progressFact(peer: Progress): string {
  const { id, state, match, next, paused, pendingSnapshot, sentCommit, ackedRound, recovering } = peer;
  const { roundTarget, caughtUp, window } = peer;
  return (
    `peer @${id} ${state} ${match} ${next} ${paused} ${pendingSnapshot} ${sentCommit} ${ackedRound} ${recovering} ` +
    `${roundTarget} ${caughtUp} ${window.count}`
  );
}

function readFacts(core: Core): string[] {
  const { reads, forwarded, now } = core;
  const facts: string[] = [];
  if (reads.round > 0) facts.push(`rounds ${reads.round} ${reads.confirmed}`);
  for (const [at, read] of reads.waiting.entries()) {
    facts.push(
      `waits ${at} ${read.index} ${read.round} @${read.from} ${read.id} ${contextText(read.context)}`,
    );
  }
  if (core.readResults.length > 0) facts.push(`results ${core.readResults.length}`);
  if (forwarded.id > 0) facts.push(`question ${forwarded.id}`);
  if (forwarded.asked.length > 0) facts.push(`asked ${now - forwarded.askedTick}`);
  for (const [at, { context }] of forwarded.asked.entries())
    facts.push(`asked ${at} ${contextText(context)}`);
  for (const [at, { context }] of forwarded.waiting.entries()) {
    facts.push(`asks ${at} ${contextText(context)}`);
  }
  return facts;
}

function contextText(context: unknown): string {
  return isTicket(context) ? String(context.atLeast) : '';
}

function writeFacts(core: Core, writes: readonly Write[]): string[] {
  const facts: string[] = [];
  for (const [at, pending] of core.writes.pending.entries()) {
    const { term, lastIndex, hardTerm, hardVote, hardCommit, messages } = pending;
    facts.push(`pending ${at} ${term} ${lastIndex} ${hardTerm} @${hardVote} ${hardCommit}`);
    for (const message of messages) facts.push(`pending ${at} ${messageFact(message)}`);
  }
  for (const [at, { hardState, snapshot, entries }] of writes.entries()) {
    const hard = hardState === null ? '' : hardText(hardState);
    facts.push(`write ${at} ${hard} ${snapshot?.index ?? 0} ${entries.map(entryText).join()}`);
  }
  return facts;
}

function membershipFacts(membership: Membership): string[] {
  const { voters, outgoing, learners, learnersNext, promote, removed, autoLeave } = membership;
  const lists = { voters, outgoing, learners, learnersNext, promote, removed };
  const facts = Object.entries(lists).flatMap(([name, ids]) => ids.map((id) => `${name} @${id}`));
  return autoLeave ? [...facts, 'leaves'] : facts;
}

function diskFacts({ disk }: Host): string[] {
  const { log, hardState, checkpoint } = disk;
  const facts = [`disk ${log.firstIndex()} ${log.lastIndex()} ${hardText(hardState)} ${checkpoint.index}`];
  for (let index = log.firstIndex() - 1; index <= log.lastIndex(); index += 1) {
    facts.push(`disk ${index} ${log.term(index)} ${log.hash(index)}`);
  }
  return facts;
}

function hardText({ term, vote, commit }: HardState): string {
  return `${term} @${vote} ${commit}`;
}

function entryText({ index, term, kind, hash }: Entry): string {
  return `${index}/${term}/${kind}/${hash}`;
}
