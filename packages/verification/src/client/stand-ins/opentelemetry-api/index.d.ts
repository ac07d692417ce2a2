/** The part of OpenTelemetry's API that the README of the client uses, as its version 1 declares it. */
export interface Span {
  setAttributes(attributes: Readonly<Record<string, string | number>>): this;
  setStatus(status: { readonly code: SpanStatusCode; readonly message?: string }): this;
  end(): void;
}
export interface Context {
  readonly span?: Span;
}
export declare enum SpanStatusCode {
  UNSET = 0,
  OK = 1,
  ERROR = 2,
}
export declare const trace: {
  getTracer(name: string): { startSpan(name: string): Span };
  setSpan(context: Context, span: Span): Context;
};
export declare const context: { active(): Context };
export declare const propagation: { inject(context: Context, carrier: Record<string, string>): void };
