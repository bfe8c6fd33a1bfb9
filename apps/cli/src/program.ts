// The command line: global options, and the commands, each of which declares itself in a file of its own.

import { VERSION } from '@svc/protocol/version'
import { Command } from 'commander'
import { AFTER_HELP } from './help-text.ts'
import { type Open, openSession } from './session.ts'
import type { TextStream, World } from './world.ts'

interface CommandModule {
  add(program: Command, open: Open): void
}

/** By what they are about. Their libraries are large, so a command is loaded when it is named. */
const COMMANDS: Record<string, Record<string, () => Promise<CommandModule>>> = {
  'Buy:': {
    quote: () => import('./commands/quote.ts'),
    buy: () => import('./commands/buy.ts'),
    receipt: () => import('./commands/receipt.ts'),
    provision: () => import('./commands/provision.ts'),
    lockers: () => import('./commands/lockers.ts'),
  },
  'Keep files:': {
    put: () => import('./commands/put.ts'),
    get: () => import('./commands/get.ts'),
    ls: () => import('./commands/ls.ts'),
    rm: () => import('./commands/rm.ts'),
    url: () => import('./commands/url.ts'),
    operators: () => import('./commands/operators.ts'),
  },
  'Prove:': {
    attest: () => import('./commands/attest.ts'),
    push: () => import('./commands/push.ts'),
    statements: () => import('./commands/statements.ts'),
    proof: () => import('./commands/proof.ts'),
    bundle: () => import('./commands/bundle.ts'),
    verify: () => import('./commands/verify.ts'),
  },
  'Have it watched:': {
    subscribe: () => import('./commands/subscribe.ts'),
    delegate: () => import('./commands/delegate.ts'),
    delegations: () => import('./commands/delegations.ts'),
  },
  'Set up:': {
    keys: () => import('./commands/keys.ts'),
    config: () => import('./commands/config.ts'),
    whoami: () => import('./commands/whoami.ts'),
    completion: () => import('./commands/completion.ts'),
    demo: () => import('./commands/demo.ts'),
  },
}

export async function createProgram(argv: readonly string[], world: World): Promise<Command> {
  const program = new Command('svc')
    .usage('<command> [options]')
    .description('Storage that is paid on chain, and proves to anybody what it holds.')
    .configureHelp({ subcommandTerm: (command) => command.name(), showGlobalOptions: true })
    .helpCommand(false)
    .option('--gateway <url>', 'address of the gateway (SVC_GATEWAY)')
    .option('--agent <url>', 'address of the agent service (SVC_AGENT)')
    .option('--wallet <file>', 'key that pays and owns: Solana keypair or EVM key (SVC_WALLET, SVC_EVM_KEY)')
    .option('-l, --locker <locker>', 'name, receipt or id of a locker; not needed where there is only one (SVC_LOCKER)')
    .option('--primary-rpc <url>', 'node of the primary chain, for paying (SVC_PRIMARY_RPC)')
    .option('--evm-rpc <url>', 'node of the EVM chain, for paying (SVC_EVM_RPC)')
    .option('--json', 'results as JSON, a document a line; nothing else on stdout')
    .option('-q, --quiet', 'results, warnings and errors only')
    .option('-y, --yes', 'do not ask: pay, delete')
    .version(VERSION, '-V, --version')
    .addHelpText('after', AFTER_HELP)
    .showHelpAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void world.stdout.write(text),
      // Programs are told in another way.
      writeErr: (text) => void (argv.includes('--json') || world.stderr.write(text)),
      getOutHelpWidth: () => helpWidth(world.stdout),
      getErrHelpWidth: () => helpWidth(world.stderr),
    })
  const open: Open = (command) => openSession(world, command.optsWithGlobals())
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading)
    for (const { add } of await Promise.all(loadersFor(argv, commands).map((load) => load()))) add(program, open)
  }
  // The help of all commands would hide the error that it follows.
  return program.showHelpAfterError('`svc --help` lists the commands')
}

/** Long lines are hard to read, however wide the terminal. */
function helpWidth({ columns = 80 }: TextStream): number {
  return Math.min(columns, 100)
}

/** Those that are named, also where the word is something else's; all of them where none is. */
function loadersFor(argv: readonly string[], commands: (typeof COMMANDS)[string]): (() => Promise<CommandModule>)[] {
  const names = Object.values(COMMANDS).flatMap(Object.keys)
  const needsAll = !names.some((name) => argv.includes(name)) || argv.includes('completion')
  return Object.entries(commands).flatMap(([name, load]) => (needsAll || argv.includes(name) ? [load] : []))
}
