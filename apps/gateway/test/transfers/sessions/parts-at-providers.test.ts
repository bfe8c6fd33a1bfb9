import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { ed25519Identity, openLockerHouse } from '../../auth/lockers.ts'
import { stores } from '../object-stores.ts'
import { sha256 } from '../transfers.ts'
import { openTestSession, publicBytes } from './sessions.ts'

/** The shortest part of an S3 upload that is not the last. */
const PART = 5 * 1_048_576

it.each(Object.keys(stores))('SESS-02 SESS-03 %s makes a file of parts of any order and length', async (provider) => {
  const { GCS_REDIRECT: _, STORJ_REDIRECT: _off, ...variables } = await stores[provider]!()
  const house = await openLockerHouse({ ...variables, LOCAL_PROVIDERS: '' })
  onTestFinished(() => house.close())
  const locker = await house.locker(ed25519Identity(), { provider })
  const [large, other, small] = [randomBytes(PART), randomBytes(PART + 1), randomBytes(300_000)]
  const contents = { even: [large, large, small], uneven: [large, small, other], replaced: [large, other, large] }
  for (const [filename, parts] of Object.entries(contents)) {
    const session = await openTestSession(house, locker, { files: [{ filename }] })
    if (filename === 'replaced') for (const i of [0, 1]) expect((await session.raw(i, large)).status).toBe(200)
    const sent = await Promise.all([2, 0, 1].map((i) => session.raw(i, parts[i]!)))
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200])
    // Whatever becomes of a part that is sent again, it must not touch the one before, nor stay when it is replaced (T-11).
    const { db } = house.gateway.context.database
    const rows = db.selectFrom('upload_parts').select('part_ref').where('session_id', '=', session.opened.session_id)
    const inPlace = (await rows.orderBy('part_index').execute()).map(({ part_ref }) => part_ref !== null)
    if (filename === 'replaced') expect(inPlace).toEqual([false, false, true])
    const bytes = Buffer.concat(parts)
    const { body } = await session.finalize()
    const content_hash = `sha256:${sha256(bytes)}`
    expect(body).toMatchObject({ status: 'complete', files: [{ size_bytes: bytes.length, content_hash }] })
    expect((await publicBytes(house, locker, filename)).equals(bytes)).toBe(true)
  }
})
