// A real gateway for tests: with its own data folder and port, removed afterwards.

import { hash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROVIDERS } from '@svc/api/providers'
import { readConfig } from '@svc/gateway/config'
import type { Overrides } from '@svc/gateway/context'
import { migrations } from '@svc/gateway/db/migrations'
import { type Gateway, startGateway } from '@svc/gateway/gateway'
import type { Variables } from '@svc/service/program/config'
import { freePort } from '../free-port.ts'
import { migrateByCopy } from '../migrate-by-copy.ts'

/** Tests send more requests than people do. Tests of the limits set their own. */
const NO_LIMITS = {
  MAX_REQUESTS_AT_ONCE: '0',
  RATE_LIMITS: 'address=0/min,statements=0/day,signer=0/min,receipt=0/min',
}

/** Pages take a third of a start, and answers would depend on whether they are built. Tests of pages set the folder. */
const NO_PAGES = { PAGES_DIR: '/nonexistent' }

/** Jobs run when a test drains the queue. Tests of the workers enable them. */
const NO_WORKERS = { RUN_JOBS: 'false' }

export async function startTestGateway(variables: Variables = {}, overrides?: Overrides): Promise<Gateway> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-gateway-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  try {
    if (variables.DATABASE_URL) await writeKeys(variables.DATA_DIR ?? folder, variables.DATABASE_URL)
    const { config, secrets } = readConfig({
      SVC_MODE: 'development',
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      LOG_LEVEL: 'silent',
      DATA_DIR: folder,
      LOCAL_PROVIDERS: PROVIDERS.join(','),
      ...NO_LIMITS,
      ...NO_PAGES,
      ...NO_WORKERS,
      ...variables,
      RATE_LIMITS: `${NO_LIMITS.RATE_LIMITS},${variables.RATE_LIMITS ?? ''}`,
    })
    await migrateByCopy(secrets.databaseUrl, migrations)
    const gateway = await startGateway(config, secrets, overrides)
    return {
      ...gateway,
      async stop() {
        await gateway.stop()
        removeFolder()
      },
    }
  } catch (error) {
    removeFolder()
    throw error
  }
}

/** Gateways of one database sign with the same keys, as replicas do. */
async function writeKeys(dataDir: string, databaseUrl: string): Promise<void> {
  const keys = join(dataDir, 'keys')
  await mkdir(keys, { recursive: true, mode: 0o700 })
  for (const name of ['statement', 'log', 'short-url']) {
    const seed = hash('sha256', name === 'statement' ? databaseUrl : `${name} ${databaseUrl}`)
    await writeFile(join(keys, `${name}.development.key`), seed, { flag: 'wx', mode: 0o600 }).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}
