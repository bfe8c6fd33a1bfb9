// A real witness for tests: with its own data folder and port, removed afterwards.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Variables } from '@svc/service/program/config'
import { readConfig } from '@svc/witness/config'
import type { Overrides } from '@svc/witness/context'
import { startWitness, type Witness } from '@svc/witness/start-witness'

export interface TestWitness extends Witness {
  /** The file with the lines. */
  logsFile: string
}

/** `logs` are lines of a policy. */
export async function startTestWitness(
  logs: readonly string[],
  variables: Variables = {},
  overrides?: Overrides,
): Promise<TestWitness> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-witness-'))
  const removeFolder = () => rm(folder, { recursive: true, force: true })
  try {
    const logsFile = join(folder, 'logs.txt')
    await writeFile(logsFile, logs.map((line) => `${line}\n`).join(''))
    const { config, secrets } = readConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'silent',
      DATA_DIR: folder,
      WITNESS_NAME: 'witness.example',
      MAX_REQUESTS_AT_ONCE: '0',
      ...variables,
    })
    const witness = await startWitness(config, secrets, overrides)
    return {
      ...witness,
      logsFile,
      async stop() {
        await witness.stop()
        await removeFolder()
      },
    }
  } catch (error) {
    await removeFolder()
    throw error
  }
}
