// A real gateway for tests: its own data folder and port, gone afterwards.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROVIDERS } from '@svc/api/purchases'
import { freePort } from '@svc/devnet/free-port'
import { readConfig } from '@svc/gateway/config'
import type { Overrides } from '@svc/gateway/context'
import { type Gateway, startGateway } from '@svc/gateway/gateway'
import type { Variables } from '@svc/http-service/config'

/** Tests ask more often than people do; those about limits set their own. */
const NO_LIMITS = { RATE_LIMIT_ADDRESS: '0', RATE_LIMIT_RECEIPT: '0', RATE_LIMIT_SIGNER: '0' }

/** Jobs are done when a test has the queue drained, unless it is about how they are done. */
const NO_WORKERS = { RUN_JOBS: 'false' }

export async function startTestGateway(variables: Variables = {}, overrides?: Overrides): Promise<Gateway> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-gateway-'))
  const removeFolder = () => rm(folder, { recursive: true, force: true })
  try {
    const { config, secrets } = readConfig({
      SVC_MODE: 'development',
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      LOG_LEVEL: 'silent',
      DATA_DIR: folder,
      LOCAL_PROVIDERS: PROVIDERS.join(','),
      ...NO_LIMITS,
      ...NO_WORKERS,
      ...variables,
    })
    const gateway = await startGateway(config, secrets, overrides)
    return {
      ...gateway,
      async stop() {
        await gateway.stop()
        await removeFolder()
      },
    }
  } catch (error) {
    await removeFolder()
    throw error
  }
}
