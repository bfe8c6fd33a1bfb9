// Small examples of every shape in which corpora are published.

import { fromHex, toBase64, toHex, utf8 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { sha256Hex } from '@svc/protocol/sha256'
import { proveConsistency, proveInclusion } from '@svc/transparency/prove'
import { memoryLog, slowRoot } from '@svc/transparency/test/trees'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { type Corpora, emptyCorpora } from '../src/corpora/cases.ts'

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const seed = new Uint8Array(32).fill(3)

/** By path: text, bytes, or what is written as JSON. */
export async function publishedFiles(): Promise<Record<string, unknown>> {
  return {
    'checker/pass1.json': '[]',
    'checker/fail2.json': '[',
    'checker/fail18.json': '[[[[[[[[[[[[[[[[[[[["Too deep"]]]]]]]]]]]]]]]]]]]]',
    'suite/n_bytes.json': Uint8Array.of(0x22, 0xe5, 0x22),
    'sign.input': signInput(),
    'wycheproof/ed25519.json': wycheproofEd25519(),
    ...(await wycheproofEcdsa()),
    'jcs/input/order.json': '{"\\u20ac": 1, "1": [2 ], "\\ud83d\\ude00": null, "\\r": "\\u000f</script>"}',
    'jcs/output/order.json': '{"\\r":"\\u000f</script>","1":[2],"€":1,"😀":null}',
    'jcs/outhex/order.txt':
      '7b225c72223a225c75303030663c2f7363726970743e222c2231223a5b325d2c22e282ac\n223a312c22f09f9880223a6e756c6c7d\n',
    'jcs/input/float.json': '{"a": [1E2, 4.50]}',
    'jcs/output/float.json': '{"a":[100,4.5]}',
    'jcs/input/zero.json': '[-0, 1e3]',
    'jcs/output/zero.json': '[0,1000]\n',
    'numbers.txt': '0,0\n8000000000000000,0\n433fffffffffffff,9007199254740991\n44b52d02c7e14af6,1e+23\n1,5e-324\n',
    'names/blns.txt':
      "# Reserved\n\nundefined\n../../etc/passwd\n'; DROP TABLE users\nÅ\n＂ｆｕｌｌ＂\nhttps://localhost/\n",
    'names/blns.json': ['', 'nil', '\u0000', '\ud800', '田中さん'],
    'ucd/NormalizationTest.txt': '# Forms\n@Part0\n1E0A;1E0A;0044 0307;1E0A;0044 0307; # (Ḋ)\n',
    'urls.json': urlTests(),
    'encodings/base58.json': [['', ''], ['0000', '11'], ['61', '2g'], ['61']],
    'encodings/base64.json': [
      ['', []],
      ['YWI=', [97, 98]],
      ['YWI', [97, 98]],
      ['Y W I =', [97, 98]],
    ],
    ...(await treeProofs()),
  }
}

function signInput(): string {
  const { publicKey, sign: signed } = ed25519Signer(seed)
  const [key, message] = [toHex(publicKey), 'af82']
  const signature = toHex(signed(fromHex(message) as Uint8Array))
  return `${toHex(seed)}${key}:${key}:${message}:${signature}${message}:\n`
}

function wycheproofEd25519() {
  const { publicKey, sign: signed } = ed25519Signer(seed)
  const tests = [{ tcId: 1, msg: '00', sig: toHex(signed(Uint8Array.of(1))).toUpperCase(), result: 'invalid' }]
  return {
    algorithm: 'EDDSA',
    testGroups: [{ type: 'EddsaVerify', publicKey: { curve: 'edwards25519', pk: toHex(publicKey) }, tests }],
  }
}

/** One good signature in DER, with a high s, with one byte more, and in P1363. */
async function wycheproofEcdsa() {
  const privateKey = `0x${'07'.repeat(32)}` as const
  const msg = toHex(utf8('message'))
  const { r, s } = await sign({ hash: `0x${sha256Hex(utf8('message'))}`, privateKey })
  const [one, two] = [BigInt(r), BigInt(s)]
  const publicKey = { curve: 'secp256k1', uncompressed: privateKeyToAccount(privateKey).publicKey.slice(2) }
  const file = (type: string, sha: string, ...tests: [sig: string, result: string][]) => ({
    algorithm: 'ECDSA',
    testGroups: [
      { type, sha, publicKey, tests: tests.map(([sig, result], i) => ({ tcId: i + 1, msg, sig, result, flags: [] })) },
    ],
  })
  const [good, high] = [der(one, two), der(one, N - two)]
  return {
    'wycheproof/ecdsa.json': file('EcdsaVerify', 'SHA-256', [good, 'valid'], [high, 'valid'], [`${good}00`, 'invalid']),
    'wycheproof/p1363.json': file('EcdsaP1363Verify', 'SHA-256', [hex64(one) + hex64(two), 'valid']),
    'wycheproof/other.json': file('EcdsaVerify', 'SHA3-512', [good, 'valid']),
  }
}

function der(...numbers: bigint[]): string {
  const integers = numbers.map((number) => {
    const digits = hex64(number)
    const signed = digits >= '80' ? `00${digits}` : digits
    return `02${(signed.length / 2).toString(16)}${signed}`
  })
  return `30${(integers.join('').length / 2).toString(16)}${integers.join('')}`
}

function hex64(number: bigint): string {
  return number.toString(16).padStart(64, '0')
}

function urlTests() {
  return [
    'A comment',
    { input: 'https://a.example/%7e', base: null, href: 'https://a.example/%7e' },
    { input: 'https://[::1', base: null, failure: true },
    { input: 'http://0x7f.1/', base: null, href: 'http://127.0.0.1/' },
    { input: 'https://1.1.1.1/', base: null, href: 'https://1.1.1.1/' },
    { input: '//b', base: 'https://a.example/', href: 'https://b/' },
    { input: 'data:text/plain,x', base: null, href: 'data:text/plain,x' },
  ]
}

/** Each good proof, and with something before its first hash, behind its last, and with another index or size. */
async function treeProofs() {
  const { leaves, readTile } = memoryLog([7])
  const [root, earlier] = [slowRoot(leaves), slowRoot(leaves.slice(0, 5))].map(toBase64)
  const inclusion = (await proveInclusion(4, 7, readTile)).map(toBase64)
  const consistency = (await proveConsistency(5, 7, readTile)).map(toBase64)
  const included = { leafIdx: 4, treeSize: 7, root, leafHash: toBase64(leaves[4]!), proof: inclusion, wantErr: false }
  const grown = { size1: 5, size2: 7, root1: earlier, root2: root, proof: consistency, wantErr: false }
  return {
    'trees/inclusion/good.json': included,
    'trees/inclusion/before.json': { ...included, proof: ['', ...inclusion], wantErr: true },
    'trees/inclusion/behind.json': { ...included, proof: [...inclusion, ''], wantErr: true },
    'trees/inclusion/none.json': { ...included, proof: null, wantErr: true },
    'trees/consistency/good.json': grown,
    'trees/consistency/before.json': { ...grown, proof: ['', ...consistency], wantErr: true },
    'trees/consistency/size.json': { ...grown, size2: 14, wantErr: true },
    'trees/consistency/list.json': [{ ...grown, root1: null, wantErr: true }],
  }
}

/** The same cases with wrong expectations. Those that no expectation comes with are left out. */
export function wrongCorpora({ ed25519, secp256k1, canonical, numbers, encodings, trees }: Corpora): Corpora {
  const [good] = secp256k1.filter(({ isValid, form }) => isValid && form === 'P1363')
  return {
    ...emptyCorpora(),
    ed25519: ed25519.map((one) => ({ ...one, isValid: !one.isValid })),
    secp256k1: [{ ...good!, isValid: false }],
    canonical: canonical
      .filter(({ name }) => name.includes('order'))
      .map((one) => ({ ...one, output: toBase64(utf8('[3]')) })),
    numbers: numbers.map((one) => ({ ...one, bits: '3ff8000000000000' })),
    encodings: encodings.filter(({ text }) => ['2g', 'YWI='].includes(text)).map((one) => ({ ...one, bytes: 'ff' })),
    trees: trees.map((one) => ({ ...one, holds: !one.holds })),
  }
}
