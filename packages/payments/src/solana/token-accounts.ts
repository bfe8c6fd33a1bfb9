import { address, createSolanaRpc } from '@solana/kit'

const KNOWN_FOR_MS = 60_000
const RETRY_AFTER_MS = 5_000
const NONE: ReadonlySet<string> = new Set()

export interface TokenAccounts {
  /** Which of the treasury's token accounts exist: money sent to one that does not would be lost or refused. */
  existing(): Promise<ReadonlySet<string>>
}

/** Asked once a minute, by one caller for all; while no node answers, what was last known holds and nobody waits. */
export function watchTokenAccounts(options: {
  rpcUrls: readonly string[]
  accounts: readonly string[]
  now: () => number
}): TokenAccounts {
  const { rpcUrls, accounts, now } = options
  let known: ReadonlySet<string> | null = null
  let askAgainAt = Number.NEGATIVE_INFINITY
  let request: Promise<void> | null = null

  async function refresh(): Promise<void> {
    const found = await existingAccounts(rpcUrls, accounts)
    askAgainAt = now() + (found ? KNOWN_FOR_MS : RETRY_AFTER_MS)
    known = found ?? known
  }

  return {
    async existing() {
      if (accounts.length > 0 && now() >= askAgainAt) {
        request ??= refresh().finally(() => {
          request = null
        })
        // A node that hangs must not hold up quotes whose answer is known.
        if (!known) await request
      }
      return known ?? NONE
    },
  }
}

async function existingAccounts(rpcUrls: readonly string[], accounts: readonly string[]): Promise<Set<string> | null> {
  for (const url of rpcUrls) {
    try {
      const rpc = createSolanaRpc(url)
      const options = { encoding: 'base64', commitment: 'confirmed', dataSlice: { offset: 0, length: 0 } } as const
      const abortSignal = AbortSignal.timeout(5_000)
      const { value } = await rpc
        .getMultipleAccounts(
          accounts.map((text) => address(text)),
          options,
        )
        .send({ abortSignal })
      return new Set(accounts.filter((_, i) => value[i]))
    } catch {
      // the next node may answer
    }
  }
  return null
}
