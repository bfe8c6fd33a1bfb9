import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { type Places, startEnvironment } from '../demo/environment.ts'
import { fundedWallet } from '../demo/funded-wallet.ts'
import { play } from '../demo/play.ts'
import { writeSamples } from '../demo/sample-files.ts'
import { steps } from '../demo/steps.ts'
import type { Open, Session } from '../session.ts'
import { nodeFor } from '../wallet/nodes.ts'

interface DemoOptions {
  evm?: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('demo')
    .description('buy, keep, attest, verify and tamper, on chains of its own; costs nothing')
    .option('--evm', 'pay on the EVM chain')
    .addHelpText(
      'after',
      `
Needs a clone of the repository, which has the gateway and the chains. With --gateway it uses a
development gateway that runs already (\`npm start\`), and the faucets of its chains.`,
    )
    .action(async (options: DemoOptions, command: Command) => demo(await open(command), options))
}

async function demo(session: Session, { evm: isEvm = false }: DemoOptions): Promise<void> {
  const { output, world, settings } = session
  const folder = await mkdtemp(join(world.env.TMPDIR ?? tmpdir(), 'svc-demo-'))
  try {
    if (settings.gateway?.from === '--gateway') return await story(session, folder, isEvm, placesOf(session))
    output.note('Starting a gateway and two chains of its own…')
    const environment = await startEnvironment(join(folder, 'gateway'), world)
    try {
      await story(session, folder, isEvm, environment)
    } finally {
      await environment.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function placesOf({ gateway, settings }: Session): Places {
  const node = (namespace: 'solana' | 'eip155') => nodeFor({ namespace }, settings, gateway)
  return { gateway, primaryRpc: node('solana'), evmRpc: node('eip155') }
}

/** With a wallet and a config folder of its own: nobody's money, and nothing is left behind. */
async function story(session: Session, folder: string, isEvm: boolean, places: Places): Promise<void> {
  const { output, world } = session
  const { gateway, primaryRpc, evmRpc } = places
  const asset = isEvm ? 'MON' : 'SOL'
  const rpcUrl = isEvm ? evmRpc : primaryRpc
  const { file, key } = await fundedWallet(folder, { asset, isEvm, rpcUrl, signal: world.signal })
  output.note(`A new wallet, ${key.address}, with 10 ${asset} from the faucet of the local chain.`)
  await writeSamples(join(folder, 'files'))
  const env = {
    PATH: world.env.PATH,
    HOME: folder,
    NO_COLOR: world.env.NO_COLOR,
    XDG_CONFIG_HOME: join(folder, 'config'),
    SVC_GATEWAY: gateway,
    SVC_WALLET: file,
    SVC_PRIMARY_RPC: primaryRpc,
    SVC_EVM_RPC: evmRpc,
  }
  await play(session, env, steps({ folder, asset, rpc: primaryRpc }))
}
