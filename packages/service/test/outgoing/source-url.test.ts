import { describe, expect, it } from 'vitest'
import { openSource } from '../../src/outgoing/open-source.ts'
import { parseSourceUrl } from '../../src/outgoing/public-request.ts'
import { mustNotResolve, refusalOf } from './tls-server.ts'

const GOOD = [
  ['https://files.example.test/a.pdf', 'https://files.example.test/a.pdf'],
  ['HTTPS://Files.Example.TEST/A.pdf', 'https://files.example.test/A.pdf'],
  ['https://files.example.test:443/', 'https://files.example.test/'],
  ['https://files.example.test:8443/', 'https://files.example.test:8443/'],
  ['https://files.example.test:1024/', 'https://files.example.test:1024/'],
  [' https://files.example.test/my report.pdf ', 'https://files.example.test/my%20report.pdf'],
  ['https://files.example.test/?a=1&b=%20#page=3', 'https://files.example.test/?a=1&b=%20'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['https://files。example。test/', 'https://files.example.test/'],
  ['https://files.example.test#@127.0.0.1/', 'https://files.example.test/'],
  ['https://files.example.test/@127.0.0.1', 'https://files.example.test/@127.0.0.1'],
  ['https://localhost.example.test/', 'https://localhost.example.test/'],
  ['https://notlocalhost.test/', 'https://notlocalhost.test/'],
  ['https://internal.example.test/', 'https://internal.example.test/'],
  ['https://metadata-of.example.test/', 'https://metadata-of.example.test/'],
  ['https://files.metadata.test/', 'https://files.metadata.test/'],
  ['https://1.1.1.1/', 'https://1.1.1.1/'],
  ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]/'],
]

const NOT_HTTPS = [
  ...['', 'files.example.test/a.pdf', '//files.example.test/a.pdf', '/etc/passwd', 'https://'],
  ...['http://files.example.test/', 'file:///etc/passwd', 'gopher://127.0.0.1:6379/_INFO', 'data:text/plain,hello'],
  ...['blob:https://files.example.test/1', 'javascript:alert(1)', 'wss://files.example.test/'],
  ...['httpss://files.example.test/', 'https://user@files.example.test/'],
  ...['https://user:password@files.example.test/', 'https://:password@files.example.test/'],
  ...['https://files.example.test@127.0.0.1/', 'https://127.0.0.1@files.example.test/'],
  ...['https://files.example.test:443@127.0.0.1/', 'https://files.example.test%40127.0.0.1/'],
  ...['https://files.example.test\\@127.0.0.1/', 'https:\\\\127.0.0.1\\'],
  ...['https://127.0.0.1\\.files.example.test/', 'https://files.example.test\t/', 'https://127.0.\n0.1/'],
  ...['https://local\r\nhost/', 'ht\ntps://files.example.test/', 'https://files.example.test/\r\nHost: 127.0.0.1'],
  ...['https://files.example.test/\u0000', '\u0000https://files.example.test/'],
  ...['https://files.example.test\u0085/', 'https://files.example.test /', 'https://files.example.test:99999/'],
  ...['https://files.example.test:x/', 'https://127.0.0.1%00.files.example.test/', 'https://256.256.256.256/'],
  ...['https://1.2.3.4.5/', 'https://127.0.0.08/', 'https://[::1/', 'https://[::1%25lo]/'],
  ...['https://[fe80::1%eth0]/', 'https://[::ffff:127.1]/', 'https://[v1.::1]/'],
]

const BLOCKED_HOSTS = [
  ...['https://localhost/', 'https://LOCALHOST/', 'https://localhost./', 'https://ｌocalhost/'],
  ...['https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/', 'https://loc%61lhost/', 'https://local\u00adhost/', 'https://app.localhost/'],
  ...['https://printer.local/', 'https://metadata.google.internal/computeMetadata/v1/'],
  ...['https://metadata。google。internal/', 'https://ip-10-0-0-1.ec2.internal/', 'https://internal.internal/'],
  ...['https://router.home.arpa/', 'https://metadata/', 'https://metadata.azure.test/', 'https://gateway/'],
  ...['https://kubernetes/', 'https://files.example.test./', 'https://files.example.test:80/'],
  ...['https://files.example.test:25/', 'https://files.example.test:1023/', 'https://files.example.test:0/'],
  ...['https://127.0.0.1:22/'],
]

/** The tests of hostile addresses cover every notation. */
const BLOCKED_ADDRESSES = [
  ...['https://[::1]:6379/', 'https://127.0.0.1/', 'https:127.0.0.1', 'https://127.1/', 'https://2130706433/'],
  ...['https://0177.0.0.1/', 'https://00000177.0.0.1/', 'https://１２７.０.０.１/'],
  ...['https://169.254.169.254/latest/meta-data/', 'https://10.0.0.1/', 'https://[::]/'],
  ...['https://[::ffff:127.0.0.1]/', 'https://[64:ff9b::169.254.169.254]/', 'https://[2002:a9fe:a9fe::1]/'],
  ...['https://[fd00:ec2::254]/'],
]

const reasonFor = async (url: string) => (await refusalOf(openSource(url, { resolve: mustNotResolve }))).reason

describe('the URL of a source', () => {
  it.each(GOOD)('FILE-26 %j is fetched as %s', (text, url) => {
    expect(parseSourceUrl(text).href).toBe(url)
  })

  it.each(NOT_HTTPS)('FILE-27 T-08 %j is not a plain https:// URL', async (url) => {
    expect(await reasonFor(url)).toBe('not_https')
  })

  it.each(BLOCKED_HOSTS)('FILE-27 T-08 %j has a blocked host, which is not looked up', async (url) => {
    expect(await reasonFor(url)).toBe('blocked_host')
  })

  it.each(BLOCKED_ADDRESSES)('FILE-27 T-08 %j has a blocked address', async (url) => {
    expect(await reasonFor(url)).toBe('blocked_address')
  })
})
