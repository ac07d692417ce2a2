import type { Transport } from '../../telemetry/families.js';

/** The way from a connection to its client. Nothing is thrown; what is sent after its end is dropped. */
export interface Wire {
  /** The client's address; a word for a Unix socket. */
  readonly address: string;
  readonly transport: Transport;
  /**
   * Sends a package.
   *
   * @param data stays as it is until it is sent; null for none
   */
  send(type: number, id: number, data: Uint8Array | null): void;
  /** Bytes that wait to be sent. */
  readonly unsent: number;
  /** Takes nothing more from the client until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends the connection behind what was sent. */
  end(): void;
  /** Ends the connection at once. */
  destroy(): void;
  /** Bytes that the system took so far: they rise as long as the client reads. */
  readonly sent: number;
}
