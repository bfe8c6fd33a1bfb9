// For tests: both chains, a gateway that sells on them behind a faulty proxy, and buyers with money.

import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS, DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import type { ChainAddresses } from '@svc/devnet/pay-leg'
import { DEMO_PAYERS, TREASURY, tokenAccountOf } from '@svc/devnet/primary-chain/dev-accounts'
import { call as callPrimary } from '@svc/devnet/primary-chain/dev-client'
import { toHex } from '@svc/protocol/bytes'
import { erc20Abi } from 'viem'
import type { Client } from '../src/client.ts'
import { type Journal, memoryJournal } from '../src/journal.ts'
import { type Signer, signerFromEvmKey, signerFromSeed } from '../src/signers.ts'
import { evmWallet } from '../src/wallets/evm-wallet.ts'
import { solanaWallet } from '../src/wallets/solana-wallet.ts'
import type { Wallet } from '../src/wallets/wallet.ts'
import { openTestbed, shared, type Testbed } from './lockers.ts'

export interface Buyer {
  signer: Signer
  wallet: Wallet
}

export interface Market extends Testbed {
  chains: LocalChains
  /** The time of the gateway and the chains in Unix milliseconds. */
  now: () => number
  /** Moves the clock of the gateway and the chains, but not that of clients. */
  advance(seconds: number): void
  /** The public key of the gateway in hex. */
  key: string
  solana(payer?: number): Buyer
  evm(payer?: number): Buyer
  /** A client that trusts the key of the gateway. */
  clientOf(buyer: Buyer, journal?: Journal): Client
  /** The balance of the treasury in atomic units, after all sent payments have landed. */
  treasury(asset: Held): Promise<bigint>
}

export type Held = 'SOL' | 'USDC' | 'MON' | 'USDC on EVM'

export async function openMarket(variables: Record<string, string> = {}): Promise<Market> {
  let lead = 0
  const now = () => Date.now() + lead
  const chains = await startLocalChains({ now })
  const testbed = await openTestbed({ ...chains.variables, ...variables }, { now })
  const key = toHex(testbed.gateway.context.signers.statement.publicKey)
  return {
    ...testbed,
    chains,
    now,
    advance(seconds) {
      lead += seconds * 1000
    },
    key,
    solana(payer = 0) {
      const signer = signerFromSeed(DEMO_PAYERS[payer]!.privateKeyBytes)
      return { signer, wallet: solanaWallet({ rpcUrl: chains.primary.url, signer }) }
    },
    evm(payer = 0) {
      const { privateKey } = DEV_PAYERS[payer]!
      const wallet = evmWallet({ rpcUrl: chains.evm.url, account: privateKey })
      return { signer: signerFromEvmKey(privateKey), wallet }
    },
    clientOf: ({ signer }, journal = memoryJournal()) => testbed.client({ signer, journal, pinnedKeys: [key] }),
    async treasury(asset) {
      await chains.settle()
      return holdings(chains, { primary: TREASURY, evm: DEV_TREASURY }, asset)
    },
    async close() {
      await testbed.close()
      await chains.stop()
    },
  }
}

export const useMarket = (variables?: Record<string, string>) => shared(() => openMarket(variables))

interface Treasuries {
  primary: typeof TREASURY
  evm: typeof DEV_TREASURY
}

/** The balance of a seller in atomic units. */
export async function holdings(chains: ChainAddresses, { primary, evm }: Treasuries, asset: Held): Promise<bigint> {
  const { address } = evm
  const evmChain = connectAs(evm, chains.evm.url)
  if (asset === 'MON') return evmChain.getBalance({ address })
  if (asset === 'USDC on EVM') {
    const balanceOf = { abi: erc20Abi, functionName: 'balanceOf', args: [address] } as const
    return evmChain.readContract({ address: TOKENS.USDC.address, ...balanceOf })
  }
  const account = asset === 'SOL' ? primary.address : await tokenAccountOf(primary.address, asset)
  const method = asset === 'SOL' ? 'getBalance' : 'getTokenAccountBalance'
  const { result } = await callPrimary(chains.primary.url, method, [account])
  const { value } = result as { value: number | { amount: string } }
  return BigInt(typeof value === 'object' ? value.amount : value)
}
