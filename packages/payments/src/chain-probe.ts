import { EVM, type Network, PRIMARY } from './networks.ts'

const KNOWN_FOR_MS = 10_000
const TIMEOUT_MS = 2_000

/** Whether a node of the chain answers, for the right chain. Asked every ten seconds at the most. */
export function createChainProbe(
  network: Network,
  rpcUrls: readonly string[],
  now: () => number,
  timeoutMs = TIMEOUT_MS,
): () => Promise<boolean> {
  let checkedAt = Number.NEGATIVE_INFINITY
  let answer: Promise<boolean> = Promise.resolve(false)
  return () => {
    if (Math.abs(now() - checkedAt) >= KNOWN_FOR_MS) {
      checkedAt = now()
      answer = anyAnswers(network, rpcUrls, timeoutMs)
    }
    return answer
  }
}

async function anyAnswers(network: Network, rpcUrls: readonly string[], timeoutMs: number): Promise<boolean> {
  const answers = await Promise.all(rpcUrls.map((url) => isNodeOf(network, url, timeoutMs)))
  return answers.includes(true)
}

async function isNodeOf(network: Network, url: string, timeoutMs: number): Promise<boolean> {
  const [method, expected] =
    network.family === 'evm'
      ? ['eth_chainId', `0x${EVM.chainId.toString(16)}`]
      : ['getGenesisHash', PRIMARY.genesisHash]
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { result } = (await response.json()) as { result?: unknown }
    return result === expected
  } catch {
    return false
  }
}
