// An OIDC issuer on loopback: it publishes its keys, signs tokens with them, and forges tokens in the known ways.

import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { startHttpServer } from './http-server.ts'

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const
type Algorithm = (typeof ALGORITHMS)[number]

export const TEST_AUDIENCE = 'svc-gateway'
const LIFETIME_S = 300

/**
 * `unpublished-key`: under its own kid. `embedded-key`: under a published kid, the forger's key in the header.
 * `hmac-of-public-key`: HS256 with the published key's PEM as the secret.
 */
type Forgery = 'unpublished-key' | 'embedded-key' | 'alg-none' | 'hmac-of-public-key'

/** What the JWKS endpoint answers; `silence` never answers. */
type JwksAnswer = 'keys' | 'error' | 'garbage' | 'redirect' | 'silence'

interface TokenOptions {
  alg?: Algorithm
  forge?: Forgery
  /** Added to the header; an undefined value removes a field. */
  header?: Record<string, unknown>
}

export interface OidcIssuer {
  issuer: string
  jwksUrl: string
  /** Valid for five minutes with `sub: 'sponsor'`. Claims override the defaults; an undefined value removes one. */
  token(claims?: Record<string, unknown>, options?: TokenOptions): string
  /** Signs with new keys from now on, and publishes the old ones only with `keepOld`. */
  rotateKeys(options?: { keepOld?: boolean; rsaBits?: number }): void
  answerJwks(answer: JwksAnswer): void
  readonly jwksRequests: number
  stop(): Promise<void>
}

export async function startOidcIssuer({ now = Date.now }: { now?: () => number } = {}): Promise<OidcIssuer> {
  let keys = ALGORITHMS.map((alg) => createKey(alg))
  let jwksAnswer: JwksAnswer = 'keys'
  let jwksRequests = 0

  const { url: issuer, stop } = await startHttpServer((request, response) => {
    if (request.url === '/.well-known/openid-configuration') return sendJson(response, discovery(issuer, jwksUrl))
    if (request.url !== '/jwks') return void response.writeHead(404).end()
    jwksRequests++
    answerKeys(response, jwksAnswer, keys)
  })
  const jwksUrl = `${issuer}/jwks`

  return {
    issuer,
    jwksUrl,
    token(claims = {}, { alg = 'RS256', forge, header = {} } = {}) {
      const issuedAt = Math.floor(now() / 1000)
      const usual = { iss: issuer, aud: TEST_AUDIENCE, sub: 'sponsor', iat: issuedAt, exp: issuedAt + LIFETIME_S }
      const signer = signerFor(keys.find((key) => key.alg === alg)!, forge)
      const content = `${encode({ ...signer.header, ...header })}.${encode({ ...usual, ...claims })}`
      return `${content}.${signer.sign(Buffer.from(content)).toString('base64url')}`
    },
    rotateKeys({ keepOld = false, rsaBits = 2048 } = {}) {
      keys = [...ALGORITHMS.map((alg) => createKey(alg, rsaBits)), ...(keepOld ? keys : [])]
    },
    answerJwks(answer) {
      jwksAnswer = answer
    },
    get jwksRequests() {
      return jwksRequests
    },
    stop,
  }
}

interface SigningKey {
  alg: Algorithm
  kid: string
  privateKey: KeyObject
  publicKey: KeyObject
}

function createKey(alg: Algorithm, rsaBits = 2048): SigningKey {
  return { alg, kid: randomUUID(), ...createKeyPair(alg, rsaBits) }
}

function createKeyPair(alg: Algorithm, rsaBits: number) {
  if (alg === 'RS256') return generateKeyPairSync('rsa', { modulusLength: rsaBits })
  return alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519')
}

interface Signer {
  header: Record<string, unknown>
  sign(content: Buffer): Buffer
}

function signerFor(key: SigningKey, forge: Forgery | undefined): Signer {
  const { alg, kid } = key
  const header = { typ: 'JWT', kid }
  if (forge === 'alg-none') return { header: { ...header, alg: 'none' }, sign: () => Buffer.alloc(0) }
  if (forge === 'hmac-of-public-key') {
    const secret = key.publicKey.export({ type: 'spki', format: 'pem' })
    return {
      header: { ...header, alg: 'HS256' },
      sign: (content) => createHmac('sha256', secret).update(content).digest(),
    }
  }
  const own = forge ? createKey(alg) : key
  const embedded = forge === 'embedded-key'
  return {
    header: { ...header, alg, kid: embedded ? kid : own.kid, ...(embedded && { jwk: publicJwk(own) }) },
    sign: (content) => signContent(own, content),
  }
}

function signContent({ alg, privateKey }: SigningKey, content: Buffer): Buffer {
  return sign(alg === 'EdDSA' ? null : 'sha256', content, { key: privateKey, dsaEncoding: 'ieee-p1363' })
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function publicJwk({ alg, kid, publicKey }: SigningKey) {
  return { ...publicKey.export({ format: 'jwk' }), alg, kid, use: 'sig' }
}

function answerKeys(response: ServerResponse, answer: JwksAnswer, keys: SigningKey[]): void {
  if (answer === 'keys') sendJson(response, { keys: keys.map(publicJwk) })
  if (answer === 'error') response.writeHead(500).end()
  if (answer === 'garbage') response.end('<html>')
  if (answer === 'redirect') response.writeHead(302, { location: '/jwks' }).end()
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function discovery(issuer: string, jwksUrl: string) {
  return {
    issuer,
    jwks_uri: jwksUrl,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ALGORITHMS,
  }
}
