/** A path to a violation, lived through once more and told line by line. */
import { RaftAssertionError } from '../assert.js';
import { formatMessage, formatTrace } from '../format.js';
import type { Message } from '../messages.js';
import { Violation } from '../testing/checker.js';
import type { Contents } from '../testing/host.js';
import type { NodeId } from '../types.js';
import { type Action, actionOf } from './actions.js';
import type { Model } from './bounds.js';
import type { Step } from './explorer.js';
import { LocalNode, originOf } from './localnode.js';

/** Each action, and indented below it what the nodes say and send. */
export function pathLines(model: Model, steps: readonly Step[], messages: readonly Message[]): string[] {
  const lines: string[] = [];
  const contents: Contents = new Map();
  const start = (id: NodeId): LocalNode =>
    new LocalNode(model, originOf(model, id), contents, (event) => lines.push(`      ${formatTrace(event)}`));
  const nodes = model.ids.map(start);
  for (const [at, { node, code }] of steps.entries()) {
    const action = actionOf(code, messages);
    lines.push(`${String(at + 1).padStart(3)}  ${actionText(node, action, model)}`);
    try {
      const sent = nodes[node - 1]?.act(action) ?? [];
      for (const message of sent) lines.push(`      sends ${formatMessage(message)}`);
    } catch (error) {
      if (!(error instanceof Violation || error instanceof RaftAssertionError)) throw error;
      lines.push(`      ${error.name}: ${error.message}`);
    }
  }
  return lines;
}

function actionText(node: NodeId, action: Action, { bounds }: Model): string {
  switch (action.kind) {
    case 'deliver':
      return `${formatMessage(action.message)} arrives`;
    case 'repeat':
      return `${formatMessage(action.message)} arrives, and will arrive again`;
    case 'campaign':
      return `the election timeout of ${node} runs out`;
    case 'propose':
      return `a client proposes an entry to ${node}`;
    case 'beat':
      return `a heartbeat of ${node} is due`;
    case 'persist':
      return `writes of ${node} are durable: ${action.count}`;
    case 'crash':
      return `${node} dies and starts again; writes in flight that had reached its disk: ${action.survivors}`;
    case 'read':
      return `a client reads at ${node}, when ${action.atLeast} is committed`;
    case 'transfer':
      return `${node} is asked to hand over to ${action.to}`;
    case 'sleep':
      return `the host of ${node} lets the group fall silent${action.without === 0 ? '' : ` without ${action.without}`}`;
    case 'back':
      return `the host of ${node} reaches ${action.node} again`;
    case 'change':
      return `${node} is asked to change the membership: ${bounds.changes[action.number]}`;
    case 'fetch':
      return `the host of ${node} fetches what is ready`;
  }
}
