import { address } from '@solana/kit'
import type { SolanaNetwork } from '@svc/api/networks'
import type { TokenAccounts } from '../family.ts'
import type { NodePool } from '../nodes/node-pool.ts'
import { connectSolana, type SolanaRpc } from './nodes.ts'

const KNOWN_FOR_MS = 60_000
const RETRY_AFTER_MS = 5_000
const TIMEOUT_MS = 5_000
const NONE: ReadonlySet<string> = new Set()

/** Queries once a minute for all callers. While no node answers, the last answer stays valid and no caller waits. */
export function watchTokenAccounts(options: {
  network: SolanaNetwork
  rpcUrls: readonly string[]
  /** How many nodes must agree. */
  quorum?: number
  accounts: readonly string[]
  now: () => number
}): TokenAccounts {
  const { network, rpcUrls, quorum = 1, accounts, now } = options
  const pool = connectSolana(network, rpcUrls, { timeoutMs: TIMEOUT_MS, quorum })
  let known: ReadonlySet<string> | null = null
  let askAgainAt = Number.NEGATIVE_INFINITY
  let request: Promise<void> | null = null

  async function refresh(): Promise<void> {
    const found = await existingAccounts(pool, accounts)
    askAgainAt = now() + (found ? KNOWN_FOR_MS : RETRY_AFTER_MS)
    known = found ?? known
  }

  return {
    async existing() {
      if (accounts.length > 0 && now() >= askAgainAt) {
        request ??= refresh().finally(() => {
          request = null
        })
        // A node that hangs must not hold up quotes while an earlier answer is known.
        if (!known) await request
      }
      return known ?? NONE
    },
    isKnown: () => known !== null,
  }
}

async function existingAccounts(
  pool: NodePool<SolanaRpc>,
  accounts: readonly string[],
): Promise<ReadonlySet<string> | null> {
  const addresses = accounts.map((text) => address(text))
  const options = { encoding: 'base64', commitment: 'confirmed', dataSlice: { offset: 0, length: 0 } } as const
  const found = pool.agree(async (rpc, abortSignal) => {
    const { value } = await rpc.getMultipleAccounts(addresses, options).send({ abortSignal })
    return accounts.filter((_, i) => value[i])
  })
  return found.then(
    (existing) => new Set(existing),
    () => null,
  )
}
