// The command line: global options and commands. Each command declares itself in its own file.

import { VERSION } from '@svc/protocol/version'
import { type Command, Help, type Option } from 'commander'
import type { Host, Run, TextStream } from './host.ts'
import { type Open, openSession } from './session.ts'
import { defaultOf, SvcCommand } from './usage.ts'

interface CommandModule {
  /** `run` is for commands that run others, `host` for those that begin without a session. */
  add(program: Command, open: Open, run: Run, host: Host): void
}

/** Grouped by subject. The libraries are large, so a command is loaded only when it is named. */
const COMMANDS: Record<string, Record<string, () => Promise<CommandModule>>> = {
  'Buy:': {
    quote: () => import('./purchases/quote.ts'),
    buy: () => import('./purchases/buy.ts'),
    receipt: () => import('./purchases/receipt.ts'),
    provision: () => import('./purchases/provision.ts'),
    lockers: () => import('./purchases/lockers.ts'),
    status: () => import('./purchases/status.ts'),
    renew: () => import('./purchases/renew.ts'),
  },
  'Keep files:': {
    put: () => import('./files/put.ts'),
    get: () => import('./files/get.ts'),
    cat: () => import('./files/cat.ts'),
    ls: () => import('./files/ls.ts'),
    stat: () => import('./files/stat.ts'),
    du: () => import('./files/du.ts'),
    sync: () => import('./files/sync.ts'),
    mv: () => import('./files/mv.ts'),
    rm: () => import('./files/rm.ts'),
    share: () => import('./files/share.ts'),
    shares: () => import('./files/shares.ts'),
    url: () => import('./files/url.ts'),
    access: () => import('./files/access.ts'),
    operators: () => import('./files/operators.ts'),
    s3: () => import('./s3/s3.ts'),
    link: () => import('./files/link.ts'),
    tus: () => import('./files/tus.ts'),
    revoke: () => import('./files/revoke.ts'),
  },
  'Prove:': {
    attest: () => import('./evidence/attest.ts'),
    push: () => import('./evidence/push.ts'),
    anchoring: () => import('./evidence/anchoring.ts'),
    statements: () => import('./evidence/statements.ts'),
    proof: () => import('./evidence/proof.ts'),
    bundle: () => import('./evidence/bundle.ts'),
    verify: () => import('./evidence/verify.ts'),
  },
  'Delegate to the agent service:': {
    subscribe: () => import('./agent/subscribe.ts'),
    delegate: () => import('./agent/delegate.ts'),
    delegations: () => import('./agent/delegations.ts'),
  },
  'For agents:': {
    mcp: () => import('./mcp/mcp.ts'),
  },
  'Set up:': {
    wallet: () => import('./setup/wallets.ts'),
    faucet: () => import('./setup/faucet.ts'),
    doctor: () => import('./setup/doctor.ts'),
    errors: () => import('./setup/error-codes.ts'),
    keys: () => import('./setup/keys.ts'),
    config: () => import('./setup/config.ts'),
    profile: () => import('./setup/profile.ts'),
    whoami: () => import('./setup/whoami.ts'),
    completion: () => import('./completion/completion.ts'),
    complete: () => import('./completion/complete.ts'),
    demo: () => import('./demo/demo.ts'),
  },
}

/** Other names of commands, for people who expect them. */
const ALIASES: Readonly<Record<string, string>> = { upload: 'put', download: 'get', list: 'ls' }

export async function createProgram(argv: readonly string[], host: Host, run: Run): Promise<Command> {
  const program = new SvcCommand('svc')
    .usage('<command> [options]')
    .description('Pay-on-chain storage with proof of what it holds.')
    .configureHelp({ subcommandTerm: (command) => command.name(), visibleOptions: optionsWithDefault })
    .helpCommand(false)
    .option('--profile <name>', 'settings, wallet and lockers to use: `svc profile` (SVC_PROFILE)')
    .option('--gateway <url>', 'address of the gateway (SVC_GATEWAY)')
    .option('--agent <url>', 'address of the agent service (SVC_AGENT)')
    .option('--wallet <file>', 'key that pays and owns: Solana keypair or EVM key (SVC_WALLET, SVC_EVM_KEY)')
    .option('-l, --locker <locker>', 'name, receipt or id of a locker; not needed if you have only one (SVC_LOCKER)')
    .option('--primary-rpc <url>', 'node of the primary chain, for payments (SVC_PRIMARY_RPC)')
    .option('--evm-rpc <url>', 'node of the EVM chain, for payments (SVC_EVM_RPC)')
    .option('--json', 'results as JSON, one document per line; nothing else on stdout')
    .option('-q, --quiet', 'show only results, warnings and errors')
    .option('-y, --yes', 'pay and delete without asking')
    .option('--wait', 'wait for busy or slow storage as long as needed')
    .version(VERSION, '-V, --version')
    .addHelpText('after', AFTER_HELP)
    .addHelpText('afterAll', ({ command }) => (command.parent ? GLOBAL_OPTIONS : ''))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void host.stdout.write(text),
      // With --json, `run` reports the error as JSON instead.
      writeErr: (text) => void (argv.includes('--json') || host.stderr.write(text)),
      getOutHelpWidth: () => helpWidth(host.stdout),
      getErrHelpWidth: () => helpWidth(host.stderr),
    })
  const open: Open = (command, fixed) => openSession(host, { ...command.optsWithGlobals(), ...fixed })
  const words = argv.map((word) => ALIASES[word] ?? word)
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading)
    for (const { add } of await Promise.all(loadersFor(words, commands).map((load) => load())))
      add(program, open, run, host)
  }
  for (const [alias, name] of Object.entries(ALIASES)) program.commands.find((one) => one.name() === name)?.alias(alias)
  return program
}

const GLOBAL_OPTIONS = '\nOptions of every command, like --locker, --yes and --json: svc --help'

/** The options of a command, and those of the subcommand that it runs without one. */
function optionsWithDefault(this: Help, command: Command): Option[] {
  const own = Help.prototype.visibleOptions.call(this, command)
  const ofDefault = defaultOf(command)?.options.filter(({ hidden }) => !hidden) ?? []
  return [...ofDefault, ...own]
}

/** Long lines are hard to read, even on a wide terminal. */
function helpWidth({ columns = 80 }: TextStream): number {
  return Math.min(columns, 100)
}

/** The commands whose names occur among the arguments, or all of them if none does. */
function loadersFor(argv: readonly string[], commands: (typeof COMMANDS)[string]): (() => Promise<CommandModule>)[] {
  const names = Object.values(COMMANDS).flatMap(Object.keys)
  const [first = '-'] = argv
  const isUnknown = !first.startsWith('-') && !names.includes(first)
  const needsAll = isUnknown || !names.some((name) => argv.includes(name)) || argv.includes('completion')
  return Object.entries(commands).flatMap(([name, load]) => (needsAll || argv.includes(name) ? [load] : []))
}

// The text below the lists of `svc --help`.

const AFTER_HELP = `
A locker from beginning to end:
  $ svc config set gateway https://gateway.example
  $ svc wallet new                          or import: keypair, words, keystore
  $ svc keys pin                            trust this gateway's keys from now on
  $ svc quote                               the price, in every asset
  $ svc buy --asset USDC --name photos      asks before it pays; repeating it pays once
  $ svc put ./photos                        a folder, in parallel; resumes after an interruption
  $ svc sync ./photos :                     later: sends what has changed; : is the locker
  $ svc attest                              the gateway signs a statement and publishes it
  $ svc bundle -o bundle.json               all the evidence, in one file
  $ svc verify bundle.json --dir ./photos   checks it offline
  $ svc status                              end and usage; \`svc renew\` adds to it

Let the agent service watch it:
  $ svc subscribe --asset USDC              thirty days, or thirty more; asks before it pays
  $ svc delegate photos                     lets it read all files back and compare
  $ svc delegations                         its findings, in a signed log

Try it without money or a gateway:  svc demo
With \`npm start\` running in a clone of the repository, \`svc faucet\` fills a wallet for free.

Exit codes:
  0  done                    3  verification failed
  1  failed                  4  payment error: money may have moved; run the same command again
  2  wrong usage             130  interrupted

Settings come from options, then variables, then $XDG_CONFIG_HOME/svc/config.json (\`svc config\`).
Another gateway or wallet: \`svc profile new NAME --gateway URL --wallet FILE\`, then --profile NAME.
SVC_DEBUG=1 adds stack traces to errors. NO_COLOR is honoured. Behind a proxy: NODE_USE_ENV_PROXY=1
with HTTPS_PROXY.
`
