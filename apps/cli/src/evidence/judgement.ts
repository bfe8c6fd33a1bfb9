import type { DsseFacts } from '@svc/verifier/dsse'
import type { Fact } from '@svc/verifier/facts'
import type { ReceiptFacts } from '@svc/verifier/receipt-facts'
import type { Verification } from '@svc/verifier/verify-bundle'
import type { ChainReport } from '@svc/verifier/verify-chain'
import type { DecryptionReport } from './decrypted-files.ts'

/** The result for one bundle. */
export interface Judged {
  path: string
  verification: Verification
  receipt: ReceiptFacts | null
  /** Null for a bundle of ours. */
  dsse: DsseFacts | null
  /** Null unless the files were to be decrypted. */
  decryption: DecryptionReport | null
}

/** All facts about a bundle that could be read. */
export function factsOf({ verification, receipt, dsse }: Judged): Record<string, Fact> {
  return verification.refused ? {} : { ...verification.facts, ...dsse, ...receipt }
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
    const facts = factsOf(one)
    const failed = Object.keys(facts).filter((name) => facts[name]?.value === 'failed')
    const missing = required.flatMap((name) => {
      const fact = facts[name] ?? { value: 'not_checked' }
      if (fact.value === 'passed' || fact.value === 'failed') return []
      return [`${name} is required, and ${fact.value}${'why' in fact ? ` (${fact.why})` : ''}`]
    })
    const undecrypted = (one.decryption?.failed ?? []).map(({ filename }) => `${filename} not decrypted`)
    return [...failed, ...missing, ...undecrypted].map((what) => about(one.path, what))
  })
  return [...ofBundles, ...(chain?.problems ?? []).map(({ code }) => `chain: ${code}`)]
}
