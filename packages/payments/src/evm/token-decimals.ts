import type { EvmNetwork } from '@svc/api/networks'
import { encodeFunctionData, erc20Abi } from 'viem'
import type { ReadDecimals } from '../decimals.ts'
import { answerOf } from './errors.ts'
import { connectEvm, type EvmRpc } from './nodes.ts'
import { quantity } from './rpc-answers.ts'

/** Generous: a leg is not sold during this time at the start of a process, which is busy. */
const TIMEOUT_MS = 10_000
const DECIMALS = encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' })
/** The largest answer of `decimals()`, which is one byte. */
const LARGEST = 255n

export function createEvmDecimalsReader(network: EvmNetwork, rpcUrls: readonly string[], quorum = 1): ReadDecimals {
  const pool = connectEvm(network, rpcUrls, { timeoutMs: TIMEOUT_MS, quorum })
  return (tokens) => pool.agree((rpc, signal) => Promise.all(tokens.map((token) => readDecimals(rpc, token, signal))))
}

async function readDecimals(rpc: EvmRpc, token: string, signal: AbortSignal): Promise<number | null> {
  const answer = await rpc('eth_call', [{ to: token, data: DECIMALS }, 'latest'], signal).catch(emptyIfReverted)
  // The answer of an account without code.
  if (answer === '0x') return null
  const decimals = quantity(answer)
  return decimals <= LARGEST ? Number(decimals) : null
}

/** A contract without decimals must not prevent reading those of the others. */
function emptyIfReverted(error: unknown): '0x' {
  if (/revert/i.test(answerOf(error))) return '0x'
  throw error
}
