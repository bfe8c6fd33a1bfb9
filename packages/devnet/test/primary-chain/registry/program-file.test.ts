import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REGISTRY } from '../../../src/primary-chain/registry/accounts.ts'
import { call, exit } from '../../../src/primary-chain/registry/program/assembler.ts'
import { elfOf } from '../../../src/primary-chain/registry/program/elf.ts'
import { create, subjectOf } from './instructions.ts'
import { custom, failedAt, feePaidBy, startTestRegistry } from './registry.ts'

describe('a registry program from a file', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'registry-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const programThatAnswers = (result: bigint) => {
    const file = join(folder, `answers-${result}.so`)
    writeFileSync(file, elfOf([...call('sol_get_stack_height'), ...exit(result)]))
    return file
  }

  it('runs instead of the stand-in, with the existing accounts', async () => {
    const stateFile = join(folder, 'chain.jsonl')
    const withStandIn = await startTestRegistry({ stateFile })
    const deployment = await withStandIn.deploy()
    const credential = await withStandIn.credential(deployment.credential)
    await withStandIn.stop()

    const refusing = await startTestRegistry({ stateFile, registryProgram: programThatAnswers(42n) })
    const again = { ...deployment, authority: refusing.authority }
    const subject = await subjectOf(again, 'by the program')
    expect((await refusing.run([create(again, subject)])).err).toEqual(failedAt(0, custom(42)))
    expect(await refusing.credential(deployment.credential)).toEqual(credential)
    await refusing.stop()

    const agreeing = await startTestRegistry({ stateFile, registryProgram: programThatAnswers(0n) })
    const unknownInstruction = { programAddress: REGISTRY, data: Uint8Array.of(99) }
    const { err, changes } = await agreeing.run([unknownInstruction])
    expect(err).toBeNull()
    expect(changes).toEqual(feePaidBy(agreeing.authority))
    await agreeing.stop()
  })

  it('is refused when the file does not exist or is not a program', { tags: ['nightly'] }, async () => {
    const missing = join(folder, 'missing.so')
    const noProgram = join(folder, 'no-program.so')
    writeFileSync(noProgram, 'not an ELF file')
    await expect(startTestRegistry({ registryProgram: missing })).rejects.toThrow(`${missing} cannot be loaded`)
    await expect(startTestRegistry({ registryProgram: noProgram })).rejects.toThrow(`${noProgram} cannot be loaded`)
  })
})
