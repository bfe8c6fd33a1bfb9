# Signs requests to a storage gateway with openssl 3, for bash: source this file.
#
#   KEY      file with an Ed25519 private key: openssl genpkey -algorithm ed25519 -out owner.pem
#   GATEWAY  address of the gateway
#   RECEIPT, LOCKER   what the request is about; empty before they exist, and to list them

HEX=0123456789abcdef
BASE58=123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz

hex() { od -An -v -tx1 | tr -d ' \n'; }
unhex() { printf "$(sed 's/../\\x&/g')"; }
sha256() { openssl dgst -sha256 -r | cut -c1-64; }
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

# rebase NUMBER FROM TO: the same number in other digits
rebase() {
  awk -v text="$1" -v from="$2" -v to="$3" 'BEGIN {
    for (i = 1; i <= length(text); i++) {
      carry = index(from, substr(text, i, 1)) - 1
      for (j = 0; j < n; j++) {
        carry += number[j] * length(from)
        number[j] = carry % length(to)
        carry = int(carry / length(to))
      }
      for (; carry > 0; carry = int(carry / length(to))) number[n++] = carry % length(to)
    }
    while (n > 0) printf "%s", substr(to, number[--n] + 1, 1)
  }'
}

# base58 HEX: each leading zero byte is a 1
base58() {
  local rest=$1
  for (( ; ; )); do
    case $rest in 00*) printf 1 && rest=${rest#00} ;; *) break ;; esac
  done
  rebase "$rest" "$HEX" "$BASE58"
}

# public_key: the 32 bytes as hex; in base58 they are the address of the key
public_key() { openssl pkey -in "$KEY" -pubout -outform DER | tail -c 32 | hex; }
address() { base58 "$(public_key)"; }

# sign: the Ed25519 signature of stdin, as hex
sign() {
  local message && message=$(mktemp)
  cat > "$message"
  openssl pkeyutl -sign -rawin -inkey "$KEY" -in "$message" | hex
  rm "$message"
}

# envelope METHOD PATH OP [BODY]: keys in alphabetical order, no spaces
envelope() {
  local hash='' aud='' now=${NOW:-$(date +%s)}
  case $1 in GET | HEAD | DELETE) ;; *) hash=$(printf %s "${4-}" | sha256) ;; esac
  # Without a locker, only this ties the request to the gateway.
  if [ -z "${LOCKER-}${RECEIPT-}" ]; then aud="\"aud\":\"$GATEWAY\","; fi
  printf '{%s"body_sha256":"%s","exp":%d,"iat":%d,"locker_id":"%s","method":"%s","nonce":"%s","ops":["%s"],"path":"%s","receipt_id":"%s","sig_alg":"ed25519","v":1}' \
    "$aud" "$hash" $((now + 60)) "$now" "${LOCKER-}" "$1" "${NONCE:-$(openssl rand -hex 16)}" "$3" "$2" "${RECEIPT-}"
}

# signed_headers METHOD PATH OP [BODY]: a line each
signed_headers() {
  local text && text=$(envelope "$@")
  printf 'X-Svc-Envelope: %s\n' "$(printf %s "$text" | base64url)"
  printf 'X-Svc-Signature: %s\n' "$(base58 "$(printf %s "$text" | sign)")"
}

# call METHOD PATH OP [BODY [QUERY]]: sends a signed request and prints the answer
call() {
  local headers && headers=$(signed_headers "$@")
  local options=(-X "$1" -H "${headers%$'\n'*}" -H "${headers#*$'\n'}")
  if [ -n "${4-}" ]; then options+=(-H 'Content-Type: application/json' --data-binary "$4"); fi
  curl -sS --fail-with-body "${options[@]}" "$GATEWAY$2${5-}"
}

# field NAME: the first text field of that name in a JSON answer, for machines without jq
field() { grep -o "\"$1\": *\"[^\"]*\"" | sed -n 1p | cut -d '"' -f 4; }
