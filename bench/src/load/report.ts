// The figures of a load run in the format of `docs/performance.md`.

import { machineText } from '../report.ts'
import type { LoadResult } from './run.ts'

export function loadTable({
  options,
  rate,
  answeredPerSecond,
  operations,
  errors,
  usage,
  ...rest
}: LoadResult): string {
  const { overload, neighbours, problems } = rest
  const ms = (value: number) => (value < 10 ? value.toFixed(1) : value.toFixed(0))
  const failed = Object.entries(errors)
  return [
    `${machineText()}, ${options.engine}, ${rate.toFixed(0)} requests per second for ${options.minutes} minutes`,
    '',
    '| operation | requests | p50 ms | p95 ms | p99 ms | errors |',
    '|---|---:|---:|---:|---:|---:|',
    ...operations.map(
      ({ operation, count, p50, p95, p99, errors }) =>
        `| ${operation} | ${count} | ${ms(p50)} | ${ms(p95)} | ${ms(p99)} | ${errors} |`,
    ),
    '',
    `Answered: ${answeredPerSecond.toFixed(0)} per second.`,
    ...failed.map(([kind, count]) => `Failed: ${kind} × ${count}`),
    '',
    ...(usage
      ? [
          '| over the second half | at its start | at its end | slope per hour |',
          '|---|---:|---:|---:|',
          `| memory of all processes, MiB | ${usage.mebibytes.middle.toFixed(0)} | ${usage.mebibytes.end.toFixed(0)} | ${usage.mebibytes.slopePerHour.toFixed(0)} |`,
          `| open descriptors | ${usage.descriptors.middle.toFixed(0)} | ${usage.descriptors.end.toFixed(0)} | ${usage.descriptors.slopePerHour.toFixed(0)} |`,
          '',
        ]
      : []),
    '| overload | per second | p50 ms | p99 ms |',
    '|---|---:|---:|---:|',
    `| the same requests, calm | – | ${ms(overload.calmP50)} | ${ms(overload.calmP99)} |`,
    `| offered | ${overload.offeredPerSecond.toFixed(0)} | | |`,
    `| admitted | ${overload.admittedPerSecond.toFixed(0)} | ${ms(overload.admittedP50)} | ${ms(overload.admittedP99)} |`,
    `| admitted while it began | | | ${ms(overload.burstP99)} |`,
    `| refused with 503 and Retry-After: ${overload.shed} | | ${ms(overload.refusedP50)} | ${ms(overload.refusedP99)} |`,
    `| other errors: ${overload.otherErrors} | | | |`,
    '',
    '| who is slow | p99 of the others before, ms | meanwhile, ms | errors of the others |',
    '|---|---:|---:|---:|',
    ...neighbours.map(
      ({ name, p99Before, p99Meanwhile, errors }) => `| ${name} | ${ms(p99Before)} | ${ms(p99Meanwhile)} | ${errors} |`,
    ),
    '',
    ...problems.map((problem) => `✗ ${problem}`),
    ...(problems.length === 0 ? ['No problems found.'] : []),
  ].join('\n')
}
