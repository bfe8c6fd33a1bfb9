import { createHmac, createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { forAllTests } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { startOidcIssuer, TEST_AUDIENCE } from '../src/oidc-issuer.ts'

type PublishedKey = JsonWebKey & { kid: string; alg: string }

const NOW = Date.parse('2026-06-01T12:00:00Z')
const issuer = forAllTests(() => startOidcIssuer({ now: () => NOW }))

async function publishedKeys(): Promise<PublishedKey[]> {
  const response = await fetch(issuer.jwksUrl)
  return ((await response.json()) as { keys: PublishedKey[] }).keys
}

function read(token: string) {
  const [header, claims, signature] = token.split('.').map((part) => Buffer.from(part, 'base64url'))
  return {
    header: JSON.parse(String(header)),
    claims: JSON.parse(String(claims)),
    content: Buffer.from(token.slice(0, token.lastIndexOf('.'))),
    signature: signature!,
  }
}

function isSignedBy(token: string, jwk: PublishedKey): boolean {
  const { content, signature } = read(token)
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  const algorithm = jwk.alg === 'EdDSA' ? null : 'sha256'
  return verify(algorithm, content, { key, dsaEncoding: 'ieee-p1363' }, signature)
}

describe('the local OIDC issuer', () => {
  it.each(['RS256', 'ES256', 'EdDSA'] as const)('signs %s tokens with the key it publishes', async (alg) => {
    const token = issuer.token({ email: 'a@b.example', sub: undefined }, { alg })
    const { header, claims } = read(token)
    const iat = NOW / 1000
    expect(claims).toEqual({ iss: issuer.issuer, aud: TEST_AUDIENCE, iat, exp: iat + 300, email: 'a@b.example' })
    const key = (await publishedKeys()).find(({ kid }) => kid === header.kid)!
    expect(key.alg).toBe(alg)
    expect(isSignedBy(token, key)).toBe(true)
  })

  it('forges tokens that are wrong in one way each', async () => {
    const keys = await publishedKeys()
    const rsa = keys.find(({ alg }) => alg === 'RS256')!
    const forge = (how: Parameters<typeof issuer.token>[1] & object) => issuer.token({}, how)

    const unpublished = read(forge({ forge: 'unpublished-key' }))
    expect(keys.map(({ kid }) => kid)).not.toContain(unpublished.header.kid)

    const embedded = forge({ forge: 'embedded-key' })
    expect(read(embedded).header.kid).toBe(rsa.kid)
    expect(isSignedBy(embedded, rsa)).toBe(false)
    expect(isSignedBy(embedded, read(embedded).header.jwk)).toBe(true)

    const none = read(forge({ forge: 'alg-none' }))
    expect([none.header.alg, none.signature.length]).toEqual(['none', 0])

    const hmac = read(forge({ forge: 'hmac-of-public-key' }))
    const pem = createPublicKey({ key: rsa, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    expect(hmac.header).toMatchObject({ alg: 'HS256', kid: rsa.kid })
    expect(hmac.signature).toEqual(createHmac('sha256', pem).update(hmac.content).digest())

    expect(read(forge({ header: { kid: undefined, crit: ['x'] } })).header).toEqual({
      typ: 'JWT',
      alg: 'RS256',
      crit: ['x'],
    })
  })
})
