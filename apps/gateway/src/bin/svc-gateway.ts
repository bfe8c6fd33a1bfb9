// `svc-gateway <command>`: the commands of an admin, configured by the environment. Each command is a file in this
// folder.

import { importBundled } from '@svc/service/program/bundle'

interface Command {
  /** For a command with arguments. */
  USAGE?: string
  run(args: string[]): Promise<void>
}

const COMMANDS: Record<string, { about: string; load: () => Promise<Command> }> = {
  start: {
    about: 'run the gateway until it is stopped',
    load: () => importBundled(new URL('./start.ts', import.meta.url)),
  },
  check: {
    about: 'describe what a settings file, or the environment, would do, without starting',
    load: () => import('./check.ts'),
  },
  'import-attestations': {
    about: 'import attestation records of the oracle era from an export',
    load: () => import('./import-attestations.ts'),
  },
  'set-up-registry': {
    about: 'prepare the attestation registry on the primary chain, once',
    load: () => import('./set-up-registry.ts'),
  },
  'deploy-evm-registry': {
    about: 'deploy the registry contract on the EVM chain',
    load: () => import('./deploy-evm-registry.ts'),
  },
  'migrate-to-postgres': {
    about: 'move the SQLite database of a stopped gateway to an empty PostgreSQL database',
    load: () => import('./migrate-to-postgres.ts'),
  },
  backup: {
    about: 'copy the database to a folder while the gateway runs',
    load: () => import('./backup.ts'),
  },
  jobs: {
    about: 'list and show jobs; retry and delete failed ones',
    load: () => import('./jobs.ts'),
  },
  lockers: {
    about: 'show, freeze, unfreeze and take down lockers',
    load: () => import('./lockers.ts'),
  },
  payments: {
    about: 'list payments without a receipt, show one, and record its refund',
    load: () => import('./payments.ts'),
  },
  keys: {
    about: 'list, announce, rotate, withdraw and revoke the keys that sign statements',
    load: () => import('./keys.ts'),
  },
  replay: {
    about: 'complete a restored database from the journal',
    load: () => import('./replay.ts'),
  },
  journal: {
    about: 'list the files of the journal, and remove those that no backup needs',
    load: () => import('./journal.ts'),
  },
  log: {
    about: 'compare the database with the published log',
    load: () => import('./log.ts'),
  },
  audit: {
    about: 'print the audit trail, and check that it is intact',
    load: () => import('./audit.ts'),
  },
}

const USAGE = 2
const MORE = 'Settings: .env.example. Operating a gateway: docs/operations.md.'

const [name = '', ...args] = process.argv.slice(2)
if (name === '--help' || name === '-h') {
  console.log(help())
} else if (Object.hasOwn(COMMANDS, name)) {
  const { about, load } = COMMANDS[name] as (typeof COMMANDS)[string]
  const { run, USAGE: usage = `usage: svc-gateway ${name}` } = await load()
  if (args.includes('--help') || args.includes('-h')) console.log(`${usage}\n\n${about}`)
  else await run(args)
} else {
  const problem = name ? `unknown command "${name}"` : 'no command given'
  console.error(`svc-gateway: ${problem}: see svc-gateway --help and docs/operations.md`)
  process.exitCode = USAGE
}

function help(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((command) => command.length))
  const lines = Object.entries(COMMANDS).map(([command, { about }]) => `  ${command.padEnd(width)}  ${about}`)
  return ['Usage: svc-gateway <command>', '', ...lines, '', MORE].join('\n')
}
