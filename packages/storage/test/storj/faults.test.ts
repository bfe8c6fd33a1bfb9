import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newId, streamOf } from '../objects.ts'
import { describeFaults } from './faults.ts'
import { openTestStorj } from './start-storj.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

describeFaults('small', 1000, true)
describeFaults('streamed', 3 * MIB, true)
describeFaults('held', 9 * MIB, false)

describe('a Storj upload in parts', () => {
  it('is aborted after a crash when its object is removed, and no other upload is', { tags: ['nightly'] }, async () => {
    const storj = await openTestStorj()
    const [id, other] = [newId(), newId()]
    storj.server.fail({ at: /^(?:DELETE|PUT)/, fault: { status: 500, code: 'InternalError' } })
    for (const each of [id, other]) {
      const source = streamOf(randomBytes(9 * MIB), MIB)
      await expect(storj.provider.write(each, source, { contentType: 'a/b', size: null })).rejects.toThrow()
    }
    expect(storj.server.uploads()).toHaveLength(2)
    await expect(storj.provider.remove({ id, ref: null })).rejects.toMatchObject(UNAVAILABLE)
    storj.server.recover()
    expect(await storj.provider.remove({ id, ref: null })).toBe('removed')
    expect(storj.server.uploads().map(({ key }) => key.slice(-32))).toEqual([other])
  })

  it('fails when the answer begins as a success and contains an error', { tags: ['nightly'] }, async () => {
    const storj = await openTestStorj()
    storj.server.fail({ at: /^POST .*uploadId/, fault: { status: 200, code: 'InternalError' } })
    const source = streamOf(randomBytes(9 * MIB), MIB)
    await expect(storj.provider.write(newId(), source, { contentType: 'a/b', size: null })).rejects.toMatchObject(
      UNAVAILABLE,
    )
    expect([storj.server.objects(), storj.server.uploads()]).toEqual([[], []])
    storj.server.recover()
    storj.server.fail({ at: /^POST .*uploadId/, fault: { status: 200, code: 'InternalError' }, times: 3 })
    const again = streamOf(randomBytes(9 * MIB), MIB)
    expect(await storj.provider.write(newId(), again, { contentType: 'a/b', size: null })).toMatchObject({
      size: 9 * MIB,
    })
  })
})
