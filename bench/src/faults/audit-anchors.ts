import { PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { call } from '@svc/devnet/primary-chain/dev-client'
import type { Audit } from './check.ts'

const PAGE = 1000

interface Landed {
  signature: string
  memo: string | null
  err: unknown
}

/** Checks on the chain that no statement is published by two transactions. */
export async function auditAnchors({ check }: Audit, primaryUrl: string): Promise<void> {
  const once = check('no anchor is sent twice')
  const published = new Map<string, string>()
  for (let before: string | undefined; ; ) {
    const options = { limit: PAGE, ...(before && { before }) }
    const { result } = await call(primaryUrl, 'getSignaturesForAddress', [PUBLICATION.address, options])
    const page = result as Landed[]
    for (const { signature, memo, err } of page) {
      if (memo === null || err !== null) continue
      once.checked++
      if (published.has(memo)) once.broken.push(`${signature} repeats ${published.get(memo)}`)
      published.set(memo, signature)
    }
    before = page.at(-1)?.signature
    if (page.length < PAGE) return
  }
}
