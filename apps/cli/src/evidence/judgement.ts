import type { Fact } from '@svc/verifier/facts'
import type { ReceiptFacts } from '@svc/verifier/receipt-facts'
import type { Verification } from '@svc/verifier/verify-bundle'
import type { ChainReport } from '@svc/verifier/verify-chain'

/** The result for one bundle. */
export interface Judged {
  path: string
  verification: Verification
  receipt: ReceiptFacts | null
}

/** All facts about a bundle that could be read. */
export function factsOf({ verification, receipt }: Judged): Record<string, Fact> {
  return verification.refused ? {} : { ...verification.facts, ...receipt }
}

/** The reasons why verification fails, in short; empty if nothing failed and every required fact passed. */
export function objections(
  judged: readonly Judged[],
  chain: ChainReport | null,
  required: readonly string[],
): string[] {
  const about = (path: string, what: string) => (judged.length > 1 ? `${path}: ${what}` : what)
  const ofBundles = judged.flatMap((one) => {
    const { refused } = one.verification
    if (refused) return [about(one.path, `refused (${refused.code})`)]
    return Object.entries(factsOf(one)).flatMap(([name, { value }]) => {
      if (value === 'failed') return [about(one.path, name)]
      return value !== 'passed' && required.includes(name) ? [about(one.path, `${name} is required, and ${value}`)] : []
    })
  })
  return [...ofBundles, ...(chain?.problems ?? []).map(({ code }) => `chain: ${code}`)]
}
