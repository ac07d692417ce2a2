import { messageOf } from '../../base/error-text.js';
import type { Logger } from '../../telemetry/logger.js';

/** Time between two looks at the files, in milliseconds. */
const LOOK_MS = 2000;

/** Files of certificates, which are looked at now and then, and taken up when they were replaced. */
export class WatchedFiles {
  /** Stamp of the files before they were last read, so that a write in between shows the next time. */
  private stamp: string;
  private timer: NodeJS.Timeout | null = null;

  /**
   * To be made before the files are read for the first time.
   *
   * @param stampNow a stamp that changes when the files are replaced or written
   * @param setting the setting that names the certificate, for the log
   */
  constructor(
    private readonly stampNow: () => string,
    private readonly setting: string,
    private readonly log: Logger,
  ) {
    this.stamp = stampNow();
  }

  /**
   * Has the files read again.
   *
   * @param renew takes up what is in them; what it throws is thrown
   */
  renew(renew: () => void): void {
    this.stamp = this.stampNow();
    renew();
  }

  /**
   * Looks at the files from now on, and has them read when they were replaced. Unfit ones are told of, and not tried again until
   * they are replaced in their turn: so a certificate is taken up once its key is there, too.
   *
   * @param renew takes up what is in them; throws when they are unfit, and those of before stay
   */
  watch(renew: () => void): void {
    this.timer = setInterval(() => this.look(renew), LOOK_MS).unref();
  }

  /** Looks no more. */
  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  private look(renew: () => void): void {
    const { log, setting } = this;
    try {
      if (this.stampNow() === this.stamp) return;
      this.renew(renew);
      log.info({ event: 'certificates_renewed', setting }, 'the certificates were replaced, and are in use');
    } catch (error) {
      const why = messageOf(error);
      const text = 'the certificates were replaced by unfit ones: those of before stay in use';
      log.warn({ event: 'certificates_refused', setting, error: why }, text);
    }
  }
}
