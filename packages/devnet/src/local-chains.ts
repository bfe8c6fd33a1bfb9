// The external services of a gateway and an agent service, on loopback: both chains and a server of exchange rates.

import { ASSETS, type Asset, tokenKey } from '@svc/api/assets'
import { EVM } from '@svc/api/networks'
import type { Variables } from '@svc/service/program/config'
import { type Token, tokensOf } from './evm-chain/contracts.ts'
import { DEV_AGENT_TREASURY, DEV_PAYERS, DEV_TREASURY } from './evm-chain/dev-accounts.ts'
import { type RunningEvmChain, startEvmChain } from './evm-chain/start.ts'
import type { Landing } from './landing.ts'
import { AGENT_TREASURY, FAUCET, MINTS, PUBLICATION, TREASURY } from './primary-chain/dev-accounts.ts'
import { type RunningPrimaryChain, startPrimaryChain } from './primary-chain/start.ts'
import { type RateServer, startRateServer } from './rate-server.ts'

export interface LocalChains {
  primary: RunningPrimaryChain
  evm: RunningEvmChain
  rates: RateServer
  /** The settings of a gateway that uses them. */
  variables: Variables
  /** The settings of an agent service that uses them. */
  agentVariables: Variables
  /** Lands all transactions that were sent to either chain, and makes them final. */
  settle(): Promise<void>
  stop(): Promise<void>
}

export interface LocalChainsOptions {
  primaryPort?: number
  primaryWebSocketPort?: number
  evmPort?: number
  /** Folder where the chains keep their state; without it they start empty. */
  stateFolder?: string
  /** File with the real program of the attestation registry; without it the primary chain uses a stand-in. */
  registryProgram?: string
  /** Starts before the EVM chain has rebuilt its blocks; requests to it wait. */
  replayInBackground?: boolean
  /** Unix milliseconds. */
  now?: () => number
  /** `later` by default. */
  landing?: Landing
  /** The built-in assets by default. The primary chain always has the tokens of those. */
  assets?: readonly Asset[]
}

export async function startLocalChains(options: LocalChainsOptions = {}): Promise<LocalChains> {
  const {
    primaryPort = 0,
    primaryWebSocketPort,
    evmPort = 0,
    stateFolder,
    registryProgram,
    replayInBackground = false,
    now,
    landing = 'later',
    assets = ASSETS,
  } = options
  const tokens = tokensOf(assets)
  const clock = now && { now }
  const [primary, evm, rates] = await Promise.all([
    startPrimaryChain({
      port: primaryPort,
      ...(primaryWebSocketPort && { webSocketPort: primaryWebSocketPort }),
      ...(stateFolder && { stateFile: `${stateFolder}/primary-chain.jsonl` }),
      ...(registryProgram && { registryProgram }),
      landing,
      ...clock,
    }),
    startEvmChain({
      port: evmPort,
      landing,
      tokens,
      replayInBackground,
      ...(stateFolder && { stateFile: `${stateFolder}/evm-chain.jsonl` }),
      ...clock,
    }),
    startRateServer({ assets, ...clock }),
  ])
  const sales = {
    ...addressSettings(assets, tokens),
    PRIMARY_RPC_URLS: primary.url,
    EVM_RPC_URLS: evm.url,
    ORACLE_URL: rates.url,
  }
  return {
    primary,
    evm,
    rates,
    variables: {
      ...sales,
      PRIMARY_TREASURY: TREASURY.address,
      EVM_TREASURY: DEV_TREASURY.address,
      PUBLICATION_KEY: Buffer.from(PUBLICATION.privateKeyBytes).toString('hex'),
      X402_SVM_FEE_PAYER_KEY: Buffer.from(FAUCET.privateKeyBytes).toString('hex'),
      X402_EVM_FACILITATOR_KEY: DEV_PAYERS.at(-1)?.privateKey,
    },
    agentVariables: { ...sales, PRIMARY_TREASURY: AGENT_TREASURY.address, EVM_TREASURY: DEV_AGENT_TREASURY.address },
    async settle() {
      primary.chain.settle()
      await evm.chain.settle()
    },
    async stop() {
      await Promise.all([primary.stop(), evm.stop(), rates.stop()])
    },
  }
}

/** The setting with the addresses of tokens that have none built in. */
function addressSettings(assets: readonly Asset[], tokens: readonly Token[]): Variables {
  const mints = new Map(Object.entries(MINTS).map(([ticker, { mint }]) => [ticker, mint]))
  const contracts = new Map(tokens.map(({ ticker, address }) => [ticker, address]))
  const named = assets.filter(({ address }) => address === null)
  const entries = named.map((asset) => {
    const { network, ticker } = asset
    return `${tokenKey(asset)}=${(network === EVM ? contracts : mints).get(ticker)}`
  })
  return { TOKENS: entries.join(',') }
}
