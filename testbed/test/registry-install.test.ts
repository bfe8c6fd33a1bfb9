import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSolanaRpc } from '@solana/kit'
import { startLocalChains } from '@svc/devnet/local-chains'
import { PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { send, signerOf } from '@svc/devnet/primary-chain/dev-client'
import { REGISTRY } from '@svc/devnet/primary-chain/registry/accounts'
import { call, exit } from '@svc/devnet/primary-chain/registry/program/assembler'
import { elfOf } from '@svc/devnet/primary-chain/registry/program/elf'
import { create, createCredential, deploymentOf, subjectOf } from '@svc/devnet/test/primary-chain/registry/instructions'
import { custom, failedAt, feePaidBy, startTestRegistry } from '@svc/devnet/test/primary-chain/registry/registry'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDevSettings } from '../src/dev-settings.ts'

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

  it('runs instead of the stand-in, on the accounts that are there', async () => {
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
    const nonsense = { programAddress: REGISTRY, data: Uint8Array.of(99) }
    const { err, changes } = await agreeing.run([nonsense])
    expect(err).toBeNull()
    expect(changes).toEqual(feePaidBy(agreeing.authority))
    await agreeing.stop()
  })

  it('is named by DEV_SAS_PROGRAM_SO', async () => {
    const { dev } = readDevSettings({ DEV_SAS_PROGRAM_SO: programThatAnswers(42n) })
    const chains = await startLocalChains({ registryProgram: dev.registryProgram! })
    const authority = await signerOf(PUBLICATION)
    const instruction = createCredential(await deploymentOf(authority, 'by the program'))
    await expect(send(createSolanaRpc(chains.primary.url), authority, [instruction])).rejects.toMatchObject({
      cause: { context: { index: 0, code: 42 } },
    })
    await chains.stop()
  })

  it('must be there, and be a program', async () => {
    const missing = join(folder, 'missing.so')
    const noProgram = join(folder, 'no-program.so')
    writeFileSync(noProgram, 'not an ELF file')
    await expect(startTestRegistry({ registryProgram: missing })).rejects.toThrow(`${missing} cannot be loaded`)
    await expect(startTestRegistry({ registryProgram: noProgram })).rejects.toThrow(`${noProgram} cannot be loaded`)
    expect(() => readDevSettings({ DEV_SAS_PROGRAM_SO: missing })).toThrow(`DEV_SAS_PROGRAM_SO cannot be read: ENOENT`)
    expect(readDevSettings({}).dev).not.toHaveProperty('registryProgram')
  })
})
