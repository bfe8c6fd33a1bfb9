// What `svc demo` of the published package starts: a gateway and the primary chain. It has no EVM chain, because npm
// would install the native code of that for all seven platforms, over 200 MB.

import { readConfig } from '@svc/gateway/config'
import { startGateway } from '@svc/gateway/gateway'
import { setUpRegistry } from '@svc/gateway/publication/registry/set-up'
import { ed25519Signer } from '@svc/protocol/keys'
import { runUntilStopped } from '@svc/service/program/run'
import { PUBLICATION, TREASURY } from '../primary-chain/dev-accounts.ts'
import { startPrimaryChain } from '../primary-chain/start.ts'
import { startRateServer } from '../rate-server.ts'
import { readDevSettings } from './dev-settings.ts'

await runUntilStopped(async () => {
  const { dev } = readDevSettings(process.env)
  const [primary, rates] = await Promise.all([
    startPrimaryChain({ port: dev.primaryRpcPort, landing: 'at once' }),
    startRateServer(),
  ])
  const { config, secrets } = readConfig({
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    ...process.env,
    SVC_MODE: 'development',
    PAGES_DIR: '/nonexistent',
    PRIMARY_RPC_URLS: primary.url,
    PRIMARY_TREASURY: TREASURY.address,
    PUBLICATION_KEY: Buffer.from(PUBLICATION.privateKeyBytes).toString('hex'),
    ORACLE_URL: rates.url,
  })
  const { credentialName } = config.anchors.registry
  await setUpRegistry(ed25519Signer(secrets.publicationSeed), credentialName, [primary.url])
  const gateway = await startGateway(config, secrets)
  console.log(`gateway ${gateway.url}, primary chain ${primary.url}. Stop: Ctrl-C`)
  return {
    url: gateway.url,
    async stop() {
      await gateway.stop()
      await Promise.all([primary.stop(), rates.stop()])
    },
  }
})
