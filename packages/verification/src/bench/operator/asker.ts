import { Agent, request } from 'node:http';
import { basic } from '@althing/node/testing';

/** A user of a node, with connections of its own. */
export class Asker {
  private readonly authorization: string;
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    name: string,
    password: string,
    connections: number,
  ) {
    this.authorization = basic(name, password);
    this.agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** @throws Error with the answer where the node refuses it */
  query(scope: string, code: string): Promise<string> {
    return this.post(scope, { type: 'query', code });
  }

  run(scope: string, name: string, args: Readonly<Record<string, unknown>> = {}): Promise<string> {
    return this.post(scope, { type: 'run', name, args });
  }

  close(): void {
    this.agent.destroy();
  }

  private post(scope: string, body: object): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json', Authorization: this.authorization };
      const sent = request(
        `${this.url}/${scope}`,
        { method: 'POST', agent: this.agent, headers },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('end', () => {
            const text = Buffer.concat(pieces).toString();
            if (response.statusCode === 200) resolve(text);
            else reject(new Error(text));
          });
        },
      );
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
  }
}
