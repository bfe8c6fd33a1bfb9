// Names that have broken other stores, and plain names that must still work. The accepted names were selected by hand
// from the rules, with the default system prefix, and not by running the code.

const PLAIN = words(`
  a A 0 a.txt A.TXT a.tar.gz README Makefile a. a.b.c a.b. a/b. _ __ - -- ~ = , @ ! $ ^ ( ) [ ] { } (1) [1] {1}
  docs/a.txt a/b/c/d/e/f/g a/.hidden a/.b/c a/.git/config .svc/x .svc/a/b .svc/a.txt .svc/a/.b svc/.svc/x robots.txt
  favicon.ico index.html index.php/x manifest batch urls confirm f/token v1/r/x/f/y docs/svc etc/passwd
  proc/self/environ dev/null
`)

const TRAVERSAL_AS_TEXT = words(`
  %2e %2e%2e %2e%2e%2f %2e%2e%2fetc%2fpasswd %2e%2e/etc/passwd %2e%2e%5c%2e%2e%5cboot.ini %252e%252e%252f a/%2e/b
  a/%2e%2e/b %c0%ae%c0%ae%c0%af %e0%80%ae %c1%9c %u002e%u002e%u2215 0x2e0x2e0x2f &#46;&#46;&#47; a%2Fb a%2fb a%5Cb
  a%3Ab %00 a%00.txt %2500 %0a %0d%0aSet-Cookie=a %E2%80%AE % %% %zz %2 %E0%A4%A %ff %20 a%20b %F0%9F%98%80 %ED%A0%80
  \uff0e\uff0e/etc \u2025/x \u2026 \u2025 \uff0e a\u2215b a\u2044b a\uff0fb a\uff1ab a\ufe55b a\u2236b a\uff3cb
  a\u29f5b
`)

const WINDOWS = words(`
  CON PRN AUX NUL COM0 COM1 COM9 LPT0 LPT1 LPT9 CONIN$ CONOUT$ CLOCK$ con nul con.txt nul.tar.gz a/con aux/a COM\u00b9
  LPT\u00b2 desktop.ini Thumbs.db PROGRA~1 ~$doc.docx $MFT $Recycle.Bin a?b a*b a<b a>b a|b a"b ? * < > | "
`).concat([' ', 'a ', ' a', 'a. ', 'a .', 'a . b', 'a /b', 'a/ b', '  ', 'a  b'])

const SHELL_AND_PRINTF = words(`
  -rf --help --version=1 $IFS \${HOME} $HOME $0 !! \`id\` $(id) a'b 'a' "a" ~root a;b ;a a&b &a a&&b a||b #a a#b *.*
  {a,b} [!a] a=b %s %n %s%n%x %d %1$s {0} {} a$ ^a$ (?=a)
`).concat(['; rm -rf ~', '| cat', '&& id', '> out', '< in', '$(touch x)', '() { x; }', 'a b', '-e id', '#!sh'])

const CODE_AS_TEXT = words(`
  <script>alert(1)</script> <svg/onload=alert(1)> "><b> &lt;b&gt; <!-- --> <![CDATA[]]> <?xml?> <%=7*7%> {{7*7}}
  \${7*7} #{7*7} *{7*7} @(7*7) {%x%} [[x]] =1+1 @SUM(A1) +1 -1 =cmd|'a'!A1 admin'-- 1;-- 1' ') %' _%_ "-- {"a"} ["a"]
  {"$gt"} $where $ne
`).concat([
  "' OR '1'='1",
  "'; DROP TABLE files; --",
  '<img src=x onerror=alert(1)>',
  '<a href="x">y</a>',
  '{{constructor.constructor("x")()}}',
  'inline; filename="b"',
  '"; filename="b',
  "a.txt'; filename*=UTF-8''b",
  "UTF-8''a",
  '=?UTF-8?Q?a?=',
  'a.txt|5|e3b0c442',
])

const WORDS_OF_THE_LANGUAGE = words(`
  __proto__ constructor prototype toString valueOf hasOwnProperty __defineGetter__ __proto__/x constructor/prototype
  then length null undefined NaN true false Infinity -0 1e400 0x0 00 1_000 None nil [object] eval arguments self this
`).concat(['[object Object]'])

const URLS_AS_TEXT = words(`
  ?a ?proxy=1 a&b=c a+b + ++ a;b=c ;jsessionid=1 a,b a@b user@host ?? ?# #? a?b#c a=1&a=2 *?
`)

const TWINS_AND_SCRIPTS = words(`
  \u00e9 e\u0301 \u00c5 \u212b A\u030a \uac00 \u1100\u1161 \ufb01 fi \u00df \u1e9e ss \u0130 \u0131 I i \u212a K \u01c6
  d\u017e \u1e9b\u0323 \u1e69 s\u0323\u0307 s\u0307\u0323 \u2126 \u03a9 \u00b5 \u03bc \u043f\u0430\u0443\u0440\u0430l
  p\u0430ypal \u0391lpha ℀ ℡ ① 日本語.txt 한국어.txt العربية.txt עברית.txt ไทย.txt हिन्दी.txt ქართული.txt Ελληνικά.txt Русский.txt
  Tiếng-Việt.txt 漢字/仮名.txt 😀 😀.png 👍🏽 🇨🇭 👩‍👩‍👧‍👦.png ❤️ #️⃣ 𝕒 𝒜.txt 𠮷野家.txt Ａ．ｔｘｔ
`).concat([`Z${'\u0310'.repeat(100)}`, `\ufdfa\ufdfa`])

/** Characters that Unicode does not class as control: spaces, joiners, direction marks, private use. */
const ODD_CODE_POINTS = [
  ...[0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x1680, 0x180e, 0x2000, 0x200a, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028],
  ...[0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x202f, 0x205f, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0x206f],
  ...[0x2400, 0x2800, 0x3000, 0x3164, 0xd7ff, 0xe000, 0xf8ff, 0xfdd0, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffb],
  ...[0xfffc, 0xfffd, 0xfffe, 0xffff, 0x10000, 0x1d173, 0x1f600, 0x1fffe, 0xe0001, 0xe0041, 0xe007f, 0xe0100],
  ...[0xf0000, 0xffffd, 0x10fffd, 0x10ffff],
]

const AT_THE_LIMIT = [
  ...['a'.repeat(511), 'a'.repeat(512), `${'a/'.repeat(255)}aa`, `.svc/${'a'.repeat(507)}`],
  ...[`${'é'.repeat(255)}a`, 'é'.repeat(256), `${'€'.repeat(170)}a`, `${'€'.repeat(170)}aa`],
  ...[`${'😀'.repeat(127)}aaa`, '😀'.repeat(128), `${'e\u0301'.repeat(170)}aa`, '\uffff'.repeat(170)],
]

const BEYOND_THE_LIMIT = [
  ...['a'.repeat(513), 'a'.repeat(100_000), `${'a/'.repeat(256)}a`, `.svc/${'a'.repeat(508)}`, ' '.repeat(513)],
  ...[`${'é'.repeat(256)}a`, 'é'.repeat(257), '€'.repeat(171), `${'€'.repeat(170)}aaa`, '€'.repeat(512)],
  ...[`${'😀'.repeat(128)}a`, '😀'.repeat(129), 'e\u0301'.repeat(171), '\ue000'.repeat(171)],
]

const DOTS = words(`
  . .. ... .... ./ ../ ./a ../a .a .a/b .htaccess .env .git .git/config .ssh/authorized_keys .well-known/x .DS_Store
  .svc .svcx .svc.x .SVC/x .Svc/x .svc/ .svc// .svc//x .svc/. .svc/.x .svc/.. .svc/../x .svc/./x .svc/.svc/x
  .svc/a/../b .svc/a/./b .svc/a/ .svc/a//b .svc/a/. a/. a/./b a/././b a/.. a/../b a..b a.. ..a a...b a/..b a/b..
  a/.../b ..svc/x ....//x ..;/x a/..;/b ..%2f ..%5c ..%00 .%2e ..%252f ..%c0%af ..\u2215x ../../../../etc/passwd
  a/../../../etc/shadow .\u0301 ..\u200b
`).concat(['. ', '.. ', ' ..', '. .', '.\u200b.', '.*'])

const SLASHES = words(`
  / // /a a/ //a a// a//b a///b /a/ /etc/passwd //host/share //host/c$ /./a /.svc/x /%2e a/b/ a/b//c /😀 😀/ 😀//a
`).concat(['; rm -rf /', '/ a', ' /'])

const BACKSLASHES = words(String.raw`
  \ \a a\ a\b \\host\share \\?\C \\.\pipe\x \\localhost\c$\x a\nb \u0000 \x2e \/ ..\..\boot.ini a/\b .svc/\x .svc\x
  %5c\ \" \' 😀\ \😀 a\\b \\ a\..b dir\file.txt \0 \r\n
`)

const COLONS = words(`
  : :a a: a:b :: a::b C: C:a C:/a C:\\a a.txt:stream a.txt::$DATA :$DATA ::$INDEX_ALLOCATION a/b:c .svc/: .svc/a:b
  http://host/a file:///etc/passwd javascript:alert(1) data:text/html,x a.txt:5:e3b0c442 sha256:e3b0 urn:x 12:30.log 😀:
  host:80 a:b:c mailto:a@b \u202e:a a%3A: ::1 fe80::1 {"$gt":1}
`).concat(['() { :; }; id', 'a: b', 'a :b'])

const BROKEN_UNICODE = ['\ud800', '\udbff', '\udc00', '\udfff', '\udc00\ud800', '\ud83d\ud83d\ude00', '\ud800\u0041']
  .flatMap(inThreePlaces)
  .concat(['\ud83d', '\ude00', '\ude00\ud83d', '.svc/\ud800', 'a/\udfff/b', '\ud800'.repeat(600)])

/** Every character of C0, DEL and C1. */
const CONTROLS = [...range(0x00, 0x1f), 0x7f, ...range(0x80, 0x9f)]
  .flatMap((code) => inThreePlaces(String.fromCodePoint(code)))
  .concat(['\0', '\n', '\t', '\r\n\r\n', 'a.txt\r\nSet-Cookie', 'a.php\0.txt', '.svc/\0', 'a/\u0085', '\u001b[2J'])

export const HOSTILE_FILENAMES: readonly { name: string; accepted: boolean }[] = [
  ...judged(true, PLAIN, TRAVERSAL_AS_TEXT, WINDOWS, SHELL_AND_PRINTF, CODE_AS_TEXT, WORDS_OF_THE_LANGUAGE),
  ...judged(true, URLS_AS_TEXT, TWINS_AND_SCRIPTS, AT_THE_LIMIT),
  ...judged(
    true,
    ODD_CODE_POINTS.flatMap((code) => inThreePlaces(String.fromCodePoint(code))),
  ),
  ...judged(false, [''], BEYOND_THE_LIMIT, DOTS, SLASHES, BACKSLASHES, COLONS, BROKEN_UNICODE, CONTROLS),
]

function judged(accepted: boolean, ...groups: string[][]): { name: string; accepted: boolean }[] {
  return groups.flat().map((name) => ({ name, accepted }))
}

function inThreePlaces(text: string): string[] {
  return [`${text}a`, `a${text}b`, `a${text}`]
}

/** Splits only at spaces and line ends, because some names contain other white space. */
function words(text: string): string[] {
  return text.split(/[ \n]+/).filter((word) => word !== '')
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}
