// The problems that the gateway reports about itself, the worst first.

import type { AdminOverview, AuditLog } from '@svc/api/operations'
import { texts } from '#texts/admin'
import { sol } from '../amounts.ts'

const t = texts.overview

/** An attestation normally takes seconds; the queue retries for longer than this. */
const LATE_SECONDS = 3_600

export interface Finding {
  tone: 'bad' | 'warn'
  text: string
  /** A link to the section with details. */
  to: string
}

interface Seen {
  overview: AdminOverview
  audit: Pick<AuditLog, 'chain'> | null
  overTerms: { lockers: readonly unknown[]; next_cursor?: string | undefined } | null
  unclaimed: { payments: readonly unknown[]; next_cursor?: string | undefined } | null
}

export function findingsOf({ overview, audit, overTerms, unclaimed }: Seen): Finding[] {
  const { providers, chains, jobs, budgets, anchors, attestations, price_feed } = overview
  const oldest = attestations.oldest_nonfinal_age_sec ?? 0
  const over = overTerms?.lockers.length ?? 0
  const toReturn = unclaimed?.payments.length ?? 0
  const bad = (text: string, to: string): Finding => ({ tone: 'bad', text, to })
  const warn = (text: string, to: string): Finding => ({ tone: 'warn', text, to })
  return [
    audit && !audit.chain.intact && bad(t.auditBroken(audit.chain.broken_at ?? 0), '#audit'),
    ...providers.map(({ provider, healthy }) => !healthy && bad(t.provider(provider), '#providers')),
    ...chains.map(({ network, state }) => state === 'failing' && bad(t.chain(network), '#providers')),
    price_feed.state === 'failing' && bad(t.feedFailing, '#prices'),
    jobs.dead > 0 && bad(t.dead(jobs.dead), '#jobs?state=dead'),
    price_feed.state === 'degraded' && warn(t.feedDegraded, '#prices'),
    ...budgets.map(
      ({ name, used_up, resets_at }) => used_up && warn(t.budget(name, texts.time(resets_at)), '#attestations'),
    ),
    anchors?.low_balance && warn(t.balance(sol(anchors.balance_lamports ?? 0)), '#attestations'),
    oldest > LATE_SECONDS && warn(t.lag(oldest), '#attestations'),
    toReturn > 0 && warn(t.unclaimed(toReturn, Boolean(unclaimed?.next_cursor)), '#payments'),
    over > 0 && warn(t.overTerms(over, Boolean(overTerms?.next_cursor)), '#lockers'),
  ].filter((finding): finding is Finding => Boolean(finding))
}
