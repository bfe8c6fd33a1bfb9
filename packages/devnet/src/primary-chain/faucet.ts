import {
  type Address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getTransactionEncoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { getCreateAssociatedTokenIdempotentInstruction, getMintToCheckedInstruction } from '@solana-program/token'
import { coinOf } from '@svc/api/assets'
import { invalidParams, RPC_CODES, RpcError } from '../rpc-error.ts'
import type { PrimaryChain } from './chain.ts'
import { FAUCET, MINT_AUTHORITY, MINTS, TOKEN_ASSETS, type TokenAsset, tokenAccountOf } from './dev-accounts.ts'
import { addressAt, type Methods, type Params, u64At } from './methods/params.ts'
import { lastValidBlockHeight } from './timeline.ts'
import { describeTransactionError } from './transactions/errors.ts'
import type { TransactionRecord } from './transactions/history.ts'
import { decodeWireTransaction } from './transactions/wire-transaction.ts'

const USAGE = 'dev_faucet takes [address, asset, amount]'
const U64_MAX = 2n ** 64n - 1n

export const faucetMethods: Methods = {
  requestAirdrop: (chain, params) => grantSol(chain, addressAt(params, 0), u64At(params, 1)).signature,

  async dev_faucet(chain, params) {
    const to = addressAt(params, 0)
    const coin = coinOf(chain.network)
    const asset = [coin.ticker, ...TOKEN_ASSETS].find((name) => name === params[1])
    if (asset === undefined)
      throw invalidParams(`${USAGE}: asset must be one of ${coin.ticker}, ${TOKEN_ASSETS.join(', ')}`)
    const token = TOKEN_ASSETS.find((name) => name === asset)
    const amount = amountAt(params, 2, token ? MINTS[token].decimals : coin.decimals)
    const record = token ? await grantTokens(chain, to, token, amount) : grantSol(chain, to, amount)
    // Wallets read confirmed blocks.
    chain.settle()
    return record.signature
  },
}

/** An amount in display units, such as "1.5", as atomic units. */
function amountAt(params: Params, index: number, decimals: number): bigint {
  const value = params[index]
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
  const match = typeof text === 'string' ? /^(\d+)(?:\.(\d+))?$/.exec(text) : null
  if (!match) throw invalidParams(`${USAGE}: amount must be a decimal number in display units, such as "1.5"`)
  const fraction = (match[2] ?? '').replace(/0+$/, '')
  if (fraction.length > decimals) throw invalidParams(`${USAGE}: this asset has at most ${decimals} decimals`)
  const amount = BigInt(match[1] + fraction.padEnd(decimals, '0'))
  if (amount === 0n || amount > U64_MAX) throw invalidParams(`${USAGE}: amount must be above 0 and fit in 64 bits`)
  return amount
}

export function grantSol(chain: PrimaryChain, to: Address, amount: bigint): TransactionRecord {
  const source = createNoopSigner(FAUCET.address)
  return send(chain, [getTransferSolInstruction({ source, destination: to, amount })])
}

async function grantTokens(chain: PrimaryChain, to: Address, asset: TokenAsset, amount: bigint) {
  const { mint, decimals } = MINTS[asset]
  const ata = await tokenAccountOf(to, asset)
  const payer = createNoopSigner(FAUCET.address)
  const mintAuthority = createNoopSigner(MINT_AUTHORITY.address)
  return send(chain, [
    getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner: to, mint }),
    getMintToCheckedInstruction({ mint, token: ata, mintAuthority, amount, decimals }),
  ])
}

// Synchronous from blockhash to execution: otherwise two equal concurrent grants would be the same transaction.
function send(chain: PrimaryChain, instructions: Instruction[]): TransactionRecord {
  const issued = chain.latestBlockhash(chain.view('processed'))
  const lifetime = { blockhash: issued.blockhash, lastValidBlockHeight: BigInt(lastValidBlockHeight(issued)) }
  const compiled = pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayer(FAUCET.address, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
    compileTransaction,
  )
  const signatures = { ...compiled.signatures } as Record<Address, Uint8Array | null>
  for (const key of [FAUCET, MINT_AUTHORITY])
    if (key.address in signatures) signatures[key.address] = key.sign(new Uint8Array(compiled.messageBytes))
  const bytes = getTransactionEncoder().encode({ ...compiled, signatures } as typeof compiled)
  const result = chain.submit(decodeWireTransaction(new Uint8Array(bytes)))
  const err = 'dropped' in result ? result.dropped : result.err
  if (err !== null || 'dropped' in result)
    throw new RpcError(
      RPC_CODES.internalError,
      `The faucet's transaction failed: ${describeTransactionError(err ?? '')}`,
    )
  return result
}
