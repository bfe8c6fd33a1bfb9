// `svc-witness [command]`: the command line of the witness, configured by environment variables.

import { importBundled } from '@svc/service/program/bundle'

interface Command {
  run(): Promise<void>
}

const COMMANDS: Record<string, { about: string; load: () => Promise<Command> }> = {
  start: {
    about: 'run the witness until it is stopped (the default)',
    load: () => importBundled(new URL('./bin/start.ts', import.meta.url)),
  },
  key: {
    about: 'print its key, for the policies of others; creates one if there is none',
    load: () => import('./bin/key.ts'),
  },
  'check-alarm': {
    about: 'verify the evidence of an alarm: check-alarm <file> <key of the log>',
    load: () => import('./bin/check-alarm.ts'),
  },
}

const USAGE = 2

const [name = 'start'] = process.argv.slice(2)
if (name === 'help' || name === '--help' || name === '-h') {
  console.log(help())
} else if (Object.hasOwn(COMMANDS, name)) {
  const { run } = await (COMMANDS[name] as (typeof COMMANDS)[string]).load()
  await run()
} else {
  console.error(`svc-witness: unknown command "${name}": see svc-witness --help`)
  process.exitCode = USAGE
}

function help(): string {
  const lines = Object.entries(COMMANDS).map(([command, { about }]) => `  ${command.padEnd(11)}  ${about}`)
  return ['Usage: svc-witness [command]', '', ...lines, '', 'Settings: apps/witness/.env.example.'].join('\n')
}
