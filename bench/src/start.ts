// The time from the start of a program to its first answer, when it has run on this machine before.

import { fork, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@svc/devnet/free-port'
import { startLocalChains } from '@svc/devnet/local-chains'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { type Program, startGatewayProgram, untilItAnswers } from './gateway-program.ts'
import { median, type Row } from './row.ts'
import { scaled } from './scale.ts'

const ROUNDS = scaled(5, 2)
const LONG_HISTORY = scaled(1000, 200)
const SOMEBODY = { primary: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin', evm: `0x${'ab'.repeat(20)}` }

export async function startRows(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-start-'))
  const chains = join(folder, 'long', 'chains')
  try {
    await makeHistory(chains)
    const starts = {
      gateway: () => startGatewayProgram({ DATA_DIR: join(folder, 'gateway') }),
      bare: startBareFastify,
      npm: () => startDevelopment(join(folder, 'fresh')),
      long: () => startDevelopment(join(folder, 'long')),
    }
    const seconds = { gateway: [] as number[], bare: [] as number[], npm: [] as number[], long: [] as number[] }
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, start] of Object.entries(starts) as [keyof typeof seconds, () => Promise<Program>][]) {
        const program = await start()
        await program.stop()
        // The first start fills the caches.
        if (round > 0) seconds[name].push(program.seconds)
      }
    }
    const [gateway, bare, npm, long] = [seconds.gateway, seconds.bare, seconds.npm, seconds.long].map(median) as [
      number,
      number,
      number,
      number,
    ]
    return [
      {
        what: 'production start, from the process to the first 200 of `/health` (SQLite)',
        measured: `${gateway.toFixed(2)} s`,
        against: '1 s',
        ratio: gateway,
        goal: { atMost: 0.5 },
      },
      {
        what: 'the same against bare Fastify with one route',
        measured: `${gateway.toFixed(2)} s`,
        against: `${bare.toFixed(2)} s`,
        ratio: gateway / bare,
        goal: { atMost: 4 },
      },
      {
        what: '`npm start`: both chains, gateway and agent service, to the first 200 of `/health`',
        measured: `${npm.toFixed(2)} s`,
        against: '1 s',
        ratio: npm,
        goal: { atMost: 3 },
      },
      {
        what: `the same with ${LONG_HISTORY} transactions on each chain`,
        measured: `${long.toFixed(2)} s`,
        against: `fresh chains: ${npm.toFixed(2)} s`,
        ratio: long / npm,
        goal: { atMost: 1.5 },
      },
    ]
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function makeHistory(stateFolder: string): Promise<void> {
  const { primary, evm, stop } = await startLocalChains({ landing: 'at once', stateFolder })
  for (let i = 0; i < LONG_HISTORY; i++) {
    await call(primary.url, 'dev_faucet', [SOMEBODY.primary, 'USDC', 1])
    await evm.chain.request({ method: 'dev_faucet', params: [SOMEBODY.evm, 'USDC', 1] })
  }
  await stop()
}

async function startBareFastify(): Promise<Program> {
  const port = String(await freePort())
  const program = new URL('./servers/bare-start.mjs', import.meta.url)
  return untilItAnswers(`http://127.0.0.1:${port}`, '/health', () => fork(program, { env: { PORT: port } }))
}

/** Starts what `npm start` starts, without npm's own quarter of a second. */
async function startDevelopment(dataDir: string): Promise<Program> {
  const port = String(await freePort())
  const ports = {
    PORT: port,
    AGENT_PORT: String(await freePort()),
    WITNESS_PORT: String(await freePort()),
    DEV_PRIMARY_RPC_PORT: String(await freePort()),
    DEV_EVM_RPC_PORT: String(await freePort()),
  }
  const program = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url))
  return untilItAnswers(`http://127.0.0.1:${port}`, '/health', () =>
    spawn(process.execPath, [program], {
      env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...ports },
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  )
}
