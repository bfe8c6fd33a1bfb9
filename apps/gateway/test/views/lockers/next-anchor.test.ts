import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { nextAnchor } from '../../../src/views/lockers/next-anchor.ts'
import { attest } from '../../evidence/attest.ts'

const CRON = { CRON_ATTEST_ENABLED: 'true', CRON_ATTEST_PUSH: 'true', CRON_ATTEST_MIN_AGE_HOURS: '10' }
const OPTED_IN = { ...CRON, CRON_ATTEST_FILTER: 'opted_in' }
const AT = '2026-09-01T22:00:00Z'

it.each([
  ['no automatic attestation', { PUBLISH: 'on_request' }, [], null, null],
  ['automatic attestation of changes', { AUTO_REATTEST: 'true' }, [], 'changes', 'publishing'],
  ['a schedule', { ...CRON, PUBLISH: 'on_request' }, [], 'changes', AT],
  ['a schedule that it has joined', { ...OPTED_IN, PUBLISH: 'on_request' }, ['cron_attest'], 'changes', AT],
  ['a schedule that it has not joined', { ...OPTED_IN, PUBLISH: 'on_request' }, [], null, null],
] as const)(
  'T-56 CRON-01 the usage reports the next anchor of a locker with %s',
  async (_, variables, tags, changed, idle) => {
    const instance = await openTestGateway(variables)
    const { context } = instance.gateway
    const locker = await instance.locker(ed25519Identity(), { tags: [...tags] })
    const next = async () => {
      const row = context.database.db.selectFrom('lockers').selectAll().where('locker_id', '=', locker.lockerId)
      const { next_anchor } = await nextAnchor(
        { ...context, primaryChain: { signer: 'somebody' } },
        await row.executeTakeFirstOrThrow(),
      )
      return next_anchor && (next_anchor.at ?? next_anchor.reason)
    }
    await locker.put('a.txt', 'a')
    await attest(instance, locker)
    expect(await next()).toBe(idle)
    await locker.put('b.txt', 'b')
    expect(await next()).toBe(idle === 'publishing' ? 'publishing' : changed)
    await instance.close()
  },
)
