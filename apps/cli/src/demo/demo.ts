import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { Command } from 'commander'
import { EXIT, Failure } from '../errors.ts'
import type { Run } from '../host.ts'
import type { Open, Session } from '../session.ts'
import { nodeFor } from '../setup/wallet.ts'
import { type Addresses, startEnvironment } from './environment.ts'
import { fundedWallet, writeSamples } from './fixtures.ts'
import { findProgram } from './program.ts'
import { type Step, steps } from './steps.ts'

interface DemoOptions {
  evm?: boolean
}

export function add(program: Command, open: Open, run: Run): void {
  program
    .command('demo')
    .description('buy, store, attest, verify and tamper, on its own chains; costs nothing')
    .option('--evm', 'pay on the EVM chain')
    .addHelpText(
      'after',
      `
It runs a gateway on this machine, with Node 24 or newer. --evm needs a clone of the repository,
which has the EVM chain. With --gateway it uses a running development gateway (\`npm start\`) and
the faucets of its chains.`,
    )
    .action(async (options: DemoOptions, command: Command) => demo(await open(command), run, options))
}

async function demo(session: Session, run: Run, { evm: isEvm = false }: DemoOptions): Promise<void> {
  const { output, host, settings } = session
  const folder = await mkdtemp(join(host.env.TMPDIR ?? tmpdir(), 'svc-demo-'))
  try {
    if (settings.gateway?.from === '--gateway') return await runDemo(session, run, folder, isEvm, addressesOf(session))
    const program = await findProgram(host, isEvm, output.note)
    output.note('Starting a gateway and local chains…')
    const environment = await startEnvironment(join(folder, 'gateway'), program, host)
    try {
      await runDemo(session, run, folder, isEvm, environment)
    } finally {
      await environment.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function addressesOf({ gateway, settings }: Session): Addresses {
  const node = (namespace: 'solana' | 'eip155') => nodeFor({ namespace }, settings, gateway)
  return { gateway, primaryRpc: node('solana'), evmRpc: node('eip155') }
}

/** Uses its own wallet and config folder, so that it costs nothing and leaves nothing behind. */
async function runDemo(
  session: Session,
  run: Run,
  folder: string,
  isEvm: boolean,
  addresses: Addresses,
): Promise<void> {
  const { output, host } = session
  const { gateway, primaryRpc, evmRpc } = addresses
  const asset = isEvm ? 'MON' : 'SOL'
  const rpcUrl = isEvm ? evmRpc : primaryRpc
  const { file, key } = await fundedWallet(folder, { asset, isEvm, rpcUrl, signal: host.signal })
  output.note(`A new wallet, ${key.address}, with 10 ${asset} from the faucet of the local chain.`)
  await writeSamples(join(folder, 'files'))
  const env = {
    PATH: host.env.PATH,
    HOME: folder,
    NO_COLOR: host.env.NO_COLOR,
    XDG_CONFIG_HOME: join(folder, 'config'),
    SVC_GATEWAY: gateway,
    SVC_WALLET: file,
    SVC_PRIMARY_RPC: primaryRpc,
    SVC_EVM_RPC: evmRpc,
  }
  await runSteps(session, run, env, steps({ folder, asset, rpc: primaryRpc }))
}

/** Runs the commands that a user would type. Each must end with its expected exit code. */
async function runSteps(
  { output, host }: Session,
  run: Run,
  env: NodeJS.ProcessEnv,
  steps: readonly Step[],
): Promise<void> {
  const { isJson } = output
  const inner = { ...host, env, ...(isJson && { stdout: discard(), stderr: discard() }) }
  for (const [index, { title, command, args, exit = EXIT.ok, before }] of steps.entries()) {
    await before?.()
    output.note(`\n${index + 1}. ${title}\n   $ ${command}\n`)
    const exit_code = await run(args, inner)
    if (isJson) output.result({ step: title, command, exit_code, ok: exit_code === exit }, () => '')
    host.signal.throwIfAborted()
    if (exit_code !== exit) throw new Failure(`"${title}" ended with ${exit_code} instead of ${exit}`)
  }
  output.note('\nThe original files passed verification, and the tampered file was found and named.')
}

function discard(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
