import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { close, create, subjectOf } from './instructions.ts'
import { startTestRegistry } from './registry.ts'

describe('the registry after a restart', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'registry-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('SAS-06 has its accounts and continues with them', { tags: ['nightly'] }, async () => {
    const stateFile = join(folder, 'chain.jsonl')
    const first = await startTestRegistry({ stateFile })
    const deployment = await first.deploy()
    const [kept, closed] = [await subjectOf(deployment, 'kept'), await subjectOf(deployment, 'closed')]
    await first.run([create(deployment, kept)])
    await first.run([create(deployment, closed)])
    await first.run([close(deployment, closed)])
    const look = async ({ credential, schema, attestation, exists }: typeof first) => ({
      credential: await credential(deployment.credential),
      schema: await schema(deployment.schema),
      kept: await attestation(kept.attestation),
      closed: await exists(closed.attestation),
    })
    const before = await look(first)
    expect(before.closed).toBe(false)
    await first.stop()

    const second = await startTestRegistry({ stateFile })
    expect(await look(second)).toEqual(before)
    const same = { ...deployment, authority: second.authority }
    const next = { ...kept, record: { ...kept.record, sequence: 2 } }
    expect((await second.run([close(same, kept), create(same, next)])).err).toBeNull()
    expect((await second.run([create(same, closed)])).err).toBeNull()
    await second.stop()
  })
})
