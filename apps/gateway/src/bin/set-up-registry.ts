// `svc-gateway set-up-registry`: prepares the attestation registry, once. A second run changes nothing. See
// docs/gateway.md.

import { ROLES } from '@svc/api/networks'
import { ed25519Signer } from '@svc/protocol/keys'
import { readConfig } from '../config.ts'
import { setUpRegistry } from '../publication/registry/set-up.ts'

export async function run(): Promise<void> {
  try {
    const { config, secrets } = readConfig(process.env)
    const rpcUrls = secrets.rpcUrls.get(ROLES.publication) ?? []
    if (rpcUrls.length === 0) throw new Error('PRIMARY_RPC_URLS must name a node of the primary chain')
    const key = ed25519Signer(secrets.publicationSeed)
    const { tx, credential, schema } = await setUpRegistry(key, config.anchors.registry.credentialName, rpcUrls)
    console.log(`credential  ${credential}`)
    console.log(`schema      ${schema}`)
    console.log(tx ? `created by   ${tx}` : 'both exist already: nothing to do')
    if (config.anchors.kind !== 'registry') console.log('Set ANCHORS=registry to publish statements there.')
  } catch (error) {
    console.error((error as Error).message || error)
    process.exitCode = 1
  }
}
