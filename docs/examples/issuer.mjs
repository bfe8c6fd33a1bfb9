// An identity provider for the examples of docs/sponsored-purchases.md: it publishes its keys, and writes the setting of the
// gateway into sponsor.env and a token of the service "shop", valid for five minutes, into service.token.

import { writeFileSync } from 'node:fs'
import { TEST_AUDIENCE as audience, startOidcIssuer } from '@svc/devnet/oidc-issuer'

const { issuer, jwksUrl, token } = await startOidcIssuer()
writeFileSync('service.token', token({ sub: 'shop' }))
const setting = `issuer=${issuer},audience=${audience},jwks=${jwksUrl},subject=shop`
writeFileSync('sponsor.env', `ISSUER=${process.pid}\nexport SPONSOR_OIDC=${setting}\n`)
