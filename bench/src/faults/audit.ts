// Checks everything that a gateway has acknowledged through its public interface and the chain.

import { limit } from '@svc/concurrency/locks'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import { lockersOf } from '../mixed/ledger.ts'
import type { Shopper } from '../mixed/shopper.ts'
import { auditAnchors } from './audit-anchors.ts'
import { auditFiles } from './audit-files.ts'
import { auditPayments } from './audit-payments.ts'
import { auditStatements } from './audit-statements.ts'
import type { Audit, Check } from './check.ts'

const AT_ONCE = 8

export async function auditAll(shopper: Shopper, primaryUrl: string): Promise<Check[]> {
  const { ledger, client } = shopper
  const checks: Check[] = []
  const ask: Audit['ask'] = async (path) => {
    const answer = await shopper.attempt(200, () => client.send({ operation: 'audit', method: 'GET', path }))
    if (!answer) throw new Error(`no answer to ${path.split('?', 1)[0]}`)
    return answer
  }
  const pinned = readPinnedKeys(JSON.stringify((await ask('/v1/keys')).body))
  if (!pinned.ok) throw new Error(pinned.problem)
  const run = limit(AT_ONCE)
  const audit: Audit = {
    shopper,
    ledger,
    client,
    keys: pinned.keys,
    ask,
    each: async (items, check) => void (await Promise.all(items.map((item) => run(() => check(item))))),
    check(promise) {
      const check: Check = { promise, checked: 0, broken: [] }
      checks.push(check)
      return check
    },
  }
  await auditPayments(audit)
  await auditFiles(audit)
  await auditStatements(audit)
  await auditAnchors(audit, primaryUrl)
  const consistent = audit.check('no response contradicted another')
  consistent.checked = lockersOf(ledger).length
  consistent.broken.push(...ledger.violations.filter((violation) => !isReplay(violation)))
  const envelopes = audit.check('no envelope is accepted twice')
  envelopes.checked = ledger.replays
  envelopes.broken.push(...ledger.violations.filter(isReplay))
  return checks
}

function isReplay(violation: string): boolean {
  return violation.startsWith('the envelope of')
}
