import type { Summary } from './run.ts'

const MOST_SHOWN = 5

export function summaryTable({
  options,
  seconds,
  kills,
  faults,
  acknowledged,
  givenUp,
  restores,
  answers,
  ...rest
}: Summary): string {
  const { checks, isGood } = rest
  const other = Object.entries(faults).map(
    ([name, times]) => `${name} ${typeof times === 'number' ? `× ${times}` : `(impossible here: ${times})`}`,
  )
  const confirmed = Object.entries(acknowledged).map(([what, count]) => `${count} ${what}`)
  const errors = Object.entries(answers).filter(([answer]) => !/^[234]\d\d$/.test(answer))
  return [
    `${options.engine}, ${options.replicas} × gateway, seed ${options.seed}, ${seconds} s`,
    '',
    `faults        ${[`kill -9 × ${kills}`, ...other].join(', ')}`,
    `acknowledged  ${confirmed.join(', ')}`,
    `errors        ${errors.map(([answer, count]) => `${answer} × ${count}`).join(', ') || 'none'}`,
    ...(restores.replays > 0
      ? [
          `replays       ${restores.replays}, and ${restores.killedReplays} killed; ${restores.refused} sales refused meanwhile; ${restores.undeleted} deleted files listed again`,
        ]
      : []),
    ...(givenUp > 0 ? [`abandoned     ${givenUp} requests`] : []),
    '',
    '| promise | checked | broken |',
    '|---|---:|---:|',
    ...checks.map(({ promise, checked, broken }) => `| ${promise} | ${checked} | ${broken.length} |`),
    '',
    ...checks.flatMap(({ promise, broken }) => broken.slice(0, MOST_SHOWN).map((what) => `BROKEN ${promise}: ${what}`)),
    isGood ? 'Every promise was kept.' : 'Promises were broken.',
  ].join('\n')
}
