import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { answeredFailure } from '../failures.ts'
import { newId, streamOf } from '../objects.ts'
import { describeFaults } from './faults.ts'
import { openTestStorj } from './start-storj.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

describeFaults('small', 1000, true)
describeFaults('streamed', 3 * MIB, true)
describeFaults('held', 9 * MIB, false)

it('a write to a Storj store that is down fails, and leaves its source usable', async () => {
  const storj = await openTestStorj()
  await storj.server.stop()
  const failure = await answeredFailure(storj.provider, newId(), Buffer.alloc(3 * MIB))
  expect(failure).toBe('ProviderError: the storage provider is unavailable')
  await storj.restart()
})

describe('a Storj upload in parts', () => {
  const ABOUT = { contentType: 'a/b', partBytes: 5 * MIB }

  it('is aborted when its object is removed, however many there are, and no other upload is', async () => {
    const storj = await openTestStorj({ pageSize: 2 })
    const [id, other] = [newId(), newId()]
    for (const each of [id, other, id, id, id, id]) await storj.provider.parts.begin(each, ABOUT)
    storj.server.fail({ at: /^DELETE/, fault: { status: 500, code: 'InternalError' } })
    await expect(storj.provider.remove({ id, ref: null })).rejects.toMatchObject(UNAVAILABLE)
    storj.server.recover()
    expect(await storj.provider.remove({ id, ref: null })).toBe('removed')
    expect(storj.server.uploads().map(({ key }) => key.slice(-32))).toEqual([other])
  })

  it('T-135 is not complete when the answer begins as a success and contains an error', async () => {
    const { server, provider } = await openTestStorj()
    const [id, part] = [newId(), { index: 0, size: 10, isLast: true, maxBytes: 10 }]
    const upload = { id, ref: await provider.parts.begin(id, ABOUT), contentType: 'a/b' }
    const ref = (await provider.parts.write(upload, part, streamOf(randomBytes(10))))!
    const fault = { status: 200, code: 'InternalError' }
    server.fail({ at: /^POST .*uploadId/, fault })
    await expect(provider.parts.complete(upload, [{ ...part, ref }])).rejects.toMatchObject(UNAVAILABLE)
    expect(server.objects()).toEqual([])
    server.recover()
    server.fail({ at: /^POST .*uploadId/, fault, times: 3 })
    expect(await provider.parts.complete(upload, [{ ...part, ref }])).toMatchObject({ size: 10 })
  })
})
