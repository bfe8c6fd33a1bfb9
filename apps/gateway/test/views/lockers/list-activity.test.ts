import { type Activity, listActivity } from '@svc/api/activity'
import { forEachDatabase } from '@svc/devnet/databases'
import { ed25519Identity, expectRefusal, openTestGateway, type TestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { toBase64Url, utf8 } from '@svc/protocol/bytes'
import { schemaCheck } from '@svc/service/http/validate'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endShare, share } from '../../adapters/http/shares/shares.ts'
import { askKey, askWalletKey, expectSuccess } from '../../adapters/s3/credentials/credentials-gateway.ts'
import { attest } from '../../evidence/attest.ts'

forEachDatabase('the activity of a locker', (database) => {
  let instance: TestGateway
  beforeAll(async () => {
    instance = await openTestGateway({ DATABASE_URL: database.url })
  })
  afterAll(() => instance.close())

  const operator = ed25519Identity()

  /** Every kind of change, a second apart. Returns what each must look like, newest first. */
  async function changedLocker() {
    const owner = ed25519Identity()
    await instance.locker(owner)
    expectSuccess(await askWalletKey(instance, owner))
    instance.clock.advance(1)
    const locker = await instance.locker(owner)
    const expected: object[] = [{ what: 'opened', id: locker.receiptId }]
    const did = async <Result>(entry: (result: Result) => object, act: () => Promise<Result>) => {
      instance.clock.advance(1)
      const at = new Date(Math.floor(instance.clock.now() / 1000) * 1000).toISOString().replace('.000Z', 'Z')
      expected.unshift({ at, ...entry(await act()) })
    }
    const admin = async (method: string, path: string, body?: object) =>
      expectSuccess(await locker.call<object>(['locker:admin'], method, path, body))
    const restrict = async (restriction: string, notice?: string) =>
      expectSuccess(
        await instance.send('PUT', `/v1/internal/operations/lockers/${locker.lockerId}/restriction`, {
          restriction,
          reason: 'order 17',
          notice,
        }),
      )
    const { identity } = operator
    await locker.put('docs/a.txt', 'one')
    await did(
      () => ({ what: 'operator_added', id: identity }),
      () => admin('POST', '/operators', { pubkey: identity }),
    )
    await did(
      () => ({ what: 'operator_named', id: identity, label: 'Ada' }),
      () => admin('POST', '/name', { name: 'Ada', operator: identity }),
    )
    let shareId = ''
    await did(
      ({ id }) => ({ what: 'share_created', id, label: 'for Ada', path: 'docs/', by: identity }),
      async () => {
        const made = await share(locker, 'docs/', { label: 'for Ada' }, operator)
        shareId = made.id
        return made
      },
    )
    await did(
      () => ({ what: 'share_ended', id: shareId }),
      () => endShare(locker, shareId),
    )
    await did(
      () => ({ what: 'attested', sequence: 1 }),
      () => attest(instance, locker),
    )
    await did(
      ({ access_key_id: id }) => ({ what: 's3_key_created', id, label: 'backup', by: owner.identity }),
      async () => expectSuccess(await askKey(locker, {})),
    )
    await did(
      ({ access_key_id: id }) => ({ what: 's3_key_created', id, all_lockers: true }),
      async () => expectSuccess(await askWalletKey(instance, owner)),
    )
    for (const [action, what] of [
      ['rotate', 'public_link_rotated'],
      ['close', 'public_link_closed'],
      ['open', 'public_link_opened'],
    ])
      await did(
        () => ({ what }),
        () => admin('POST', '/public-link', { action }),
      )
    await did(
      () => ({ what: 'renamed', label: 'Contracts' }),
      () => admin('POST', '/name', { name: 'Contracts' }),
    )
    const renewal = `rcpt_${'7'.repeat(32)}`
    await did(
      () => ({ what: 'renewed', id: renewal }),
      () =>
        writable(instance.gateway.context.database.db)
          .insertInto('renewals')
          .values({
            receipt_id: renewal,
            locker_id: locker.lockerId,
            terms: '{}',
            renewed_at: Math.floor(instance.clock.now() / 1000),
          })
          .execute(),
    )
    await did(
      () => ({ what: 'anchoring_changed', label: 'log' }),
      () => admin('POST', '/anchoring', { anchoring: 'log' }),
    )
    await did(
      () => ({ what: 'operator_removed', id: identity }),
      () => admin('DELETE', `/operators/${identity}`),
    )
    await did(
      () => ({ what: 'everything_ended' }),
      () => admin('POST', '/revoke', {}),
    )
    await did(
      () => ({ what: 'taken_down', label: 'Please call us.' }),
      () => restrict('taken_down', 'Please call us.'),
    )
    await did(
      () => ({ what: 'restriction_lifted', label: null }),
      () => restrict('none'),
    )
    return { locker, expected }
  }

  it('LOCK-18 lists the opening of a locker after everything else of its second', async () => {
    const locker = await instance.locker(ed25519Identity())
    await locker.put('a.txt', 'one')
    await attest(instance, locker)
    const { activity } = expectSuccess(await locker.call<Activity>(['locker:admin'], 'GET', '/activity'))
    expect(activity.map(({ what }) => what)).toEqual(['attested', 'opened'])
  })

  it('LOCK-18 lists what was done to a locker, newest first, in one page or in many', async () => {
    const { locker, expected } = await changedLocker()
    await instance.locker(locker.owner)
    const page = (query: string) => locker.call<Activity>(['locker:admin'], 'GET', `/activity${query}`)
    const { next_cursor, ...all } = expectSuccess(await page(''))
    expect(schemaCheck(listActivity.responses[200])(all)).toBeNull()
    expect(next_cursor).toBeUndefined()
    expect(all).toMatchObject({ locker_id: locker.lockerId, count: expected.length, activity: expected })
    for (const limit of [1, 2, expected.length - 1]) {
      const paged: object[] = []
      for (let cursor = ''; ; ) {
        const body = expectSuccess(await page(`?limit=${limit}${cursor}`))
        expect(body.count).toBeLessThanOrEqual(limit)
        paged.push(...body.activity)
        expect(atob(body.next_cursor ?? '')).not.toContain(locker.receiptId)
        if (body.next_cursor === undefined) break
        cursor = `&cursor=${body.next_cursor}`
      }
      expect(paged).toEqual(all.activity)
    }
  })

  it('LOCK-18 shows changes of the same second in the order in which they were made', async () => {
    const locker = await instance.locker(ed25519Identity())
    for (let i = 0; i < 5; i++)
      for (const action of ['close', 'open', 'rotate'])
        expectSuccess(await locker.call(['locker:admin'], 'POST', '/public-link', { action }))
    const { activity } = expectSuccess(await locker.call<Activity>(['locker:admin'], 'GET', '/activity'))
    const newest = ['public_link_rotated', 'public_link_opened', 'public_link_closed']
    expect(activity.map(({ what }) => what)).toEqual([...Array.from({ length: 5 }, () => newest).flat(), 'opened'])
    expect(new Set(activity.map(({ at }) => at)).size).toBe(1)
  })

  it('LOCK-18 OPER-05 an operator cannot read it, and a changed cursor or limit is refused', async () => {
    const locker = await instance.locker(ed25519Identity(), { operators: [operator] })
    const ask = (query: string, who = locker.owner) =>
      locker.call(['locker:admin'], 'GET', `/activity${query}`, undefined, who)
    expectRefusal(await ask('', operator), 403, 'OWNER_REQUIRED')
    const hex = 'a'.repeat(32)
    const cursors = ['', '1', `1 ${hex} 1 - x`, `1 '; 1 - 1`, `9999999999999999 - 1 - 1`, `1 - 1 rcpt_${hex} 1`]
    for (const cursor of ['A', ...cursors.map((text) => toBase64Url(utf8(text)))])
      expectRefusal(await ask(`?cursor=${cursor}`), 422, 'validation_error')
    for (const limit of ['0', '1001', '-1', 'x']) expectRefusal(await ask(`?limit=${limit}`), 422, 'validation_error')
    const end = toBase64Url(utf8('0 - 0 - 0'))
    expect(expectSuccess(await ask(`?cursor=${end}`))).toMatchObject({ activity: [], count: 0 })
  })
})
