import { NodeProblem, nodeName } from '@svc/payments/ask-nodes'
import { EVM } from '@svc/payments/networks'
import { type Account, createClient, defineChain, fallback, http, publicActions, type Transport } from 'viem'

const TIMEOUT_MS = 5_000
/** Only what a block asks is paid; with less a transaction would wait as soon as the chain gets busier. */
const BASE_FEE_MULTIPLIER = 2

/** A client of nodes that are of the right chain. The next one is asked when one does not answer. */
export function connectEvm(rpcUrls: readonly string[], account: Account, timeoutMs = TIMEOUT_MS) {
  const chain = defineChain({
    id: EVM.chainId,
    name: EVM.name,
    nativeCurrency: { name: 'MON', symbol: 'MON', decimals: 18 },
    rpcUrls: { default: { http: rpcUrls } },
    fees: { baseFeeMultiplier: BASE_FEE_MULTIPLIER },
  })
  const nodes = rpcUrls.map((url) => nodeOfChain(url, timeoutMs))
  const transport = fallback(nodes, { retryCount: 1 })
  return createClient({ account, chain, transport, cacheTime: 0 }).extend(publicActions)
}

function nodeOfChain(url: string, timeoutMs: number): Transport {
  // viem's own deadline would not cover the body of an answer.
  const fetchFn: typeof fetch = (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(timeoutMs) })
  const node = http(url, { timeout: 0, retryCount: 0, fetchFn })
  let isRightChain = false
  return (options) => {
    const transport = node(options)
    const request: typeof transport.request = async (question) => {
      if (!isRightChain) {
        const chainId = Number(await transport.request({ method: 'eth_chainId' }))
        if (chainId !== EVM.chainId) throw new NodeProblem(`${nodeName(url)} is a node of chain ${chainId}`)
        isRightChain = true
      }
      return transport.request(question)
    }
    return { ...transport, request }
  }
}
