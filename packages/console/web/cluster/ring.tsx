/** The cluster as an assembly: nodes in a ring, the one that leads the root scope filled. */
import type { JSX } from 'preact';

export interface Seat {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  /** Whether it leads the root scope. */
  readonly leads: boolean;
  /** Groups that it leads. */
  readonly groups: number;
}

const SIZE = 240;
const CENTRE = SIZE / 2;
const ORBIT = 74;
const SEAT = 17;

export function Ring({ seats }: { readonly seats: readonly Seat[] }): JSX.Element {
  const said = seats
    .map(({ name, status, groups }) => `${name}: ${status.toLowerCase()}, leads ${groups}`)
    .join('; ');
  return (
    <svg viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={`The nodes. ${said}`}>
      <circle class="orbit" cx={CENTRE} cy={CENTRE} r={ORBIT} />
      <text x={CENTRE} y={CENTRE - 4}>
        {seats.length === 1 ? '1 node' : `${seats.length} nodes`}
      </text>
      <text class="small" x={CENTRE} y={CENTRE + 12}>
        {seats.filter(({ status }) => status === 'READY').length} ready
      </text>
      {seats.map((seat, i) => {
        const angle = (i / seats.length) * 2 * Math.PI - Math.PI / 2;
        const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
        const [x, y] = [CENTRE + dx * ORBIT, CENTRE + dy * ORBIT];
        const classes = `seat${seat.leads ? ' leads' : ''}${seat.status === 'READY' ? '' : ' away'}`;
        return (
          <g key={seat.id}>
            <circle class={classes} cx={x} cy={y} r={SEAT} />
            <text x={x} y={y + 4}>
              {seat.id}
            </text>
            <text class="small" x={CENTRE + dx * (ORBIT + 30)} y={y + dy * 30 + 4}>
              {seat.name}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
