// Signs requests to a storage gateway with the standard library. The example of docs/http.md: go run envelope.go
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"time"
)

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

func base58(data []byte) string {
	var text []byte
	number, digit, base := new(big.Int).SetBytes(data), new(big.Int), big.NewInt(58)
	for number.Sign() > 0 {
		number.DivMod(number, base, digit)
		text = append([]byte{alphabet[digit.Int64()]}, text...)
	}
	for i := 0; i < len(data) && data[i] == 0; i++ {
		text = append([]byte{'1'}, text...)
	}
	return string(text)
}

// Request is what an envelope binds. Now and Nonce are set in examples only.
type Request struct {
	Method, Path, Op, Locker, Receipt string
	Audience                          string
	Body                              []byte
	Now                               int64
	Nonce                             string
}

// SignedHeaders returns the envelope and its signature.
func SignedHeaders(key ed25519.PrivateKey, r Request) (envelope, signature string) {
	if r.Now == 0 {
		r.Now = time.Now().Unix()
	}
	if r.Nonce == "" {
		nonce := make([]byte, 16)
		rand.Read(nonce)
		r.Nonce = hex.EncodeToString(nonce)
	}
	hash := ""
	if r.Method != "GET" && r.Method != "HEAD" && r.Method != "DELETE" {
		sum := sha256.Sum256(r.Body)
		hash = hex.EncodeToString(sum[:])
	}
	// A map is written with its keys in alphabetical order.
	fields := map[string]any{
		"v": 1, "locker_id": r.Locker, "receipt_id": r.Receipt, "nonce": r.Nonce,
		"iat": r.Now, "exp": r.Now + 60, "ops": []string{r.Op}, "method": r.Method,
		"path": r.Path, "body_sha256": hash, "sig_alg": "ed25519",
	}
	if r.Audience != "" {
		fields["aud"] = r.Audience
	}
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(fields); err != nil {
		panic(err)
	}
	text := bytes.TrimSuffix(data.Bytes(), []byte("\n"))
	return base64.RawURLEncoding.EncodeToString(text), base58(ed25519.Sign(key, text))
}

func main() {
	seed, _ := hex.DecodeString("05c639f49addb3025344f54a3a8f6e6fde71841feea549197176203370d30a18")
	envelope, signature := SignedHeaders(ed25519.NewKeyFromSeed(seed), Request{
		Method:  "POST",
		Path:    "/v1/lockers/locker_14fa9d190572/files",
		Op:      "locker:write",
		Locker:  "locker_14fa9d190572",
		Receipt: "rcpt_test_0001",
		Body:    []byte(`{"content_type":"text/plain","filename":"readme.txt","ttl_min":30}`),
		Now:     1781222400,
		Nonce:   "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf",
	})
	fmt.Println("X-Svc-Envelope: " + envelope)
	fmt.Println("X-Svc-Signature: " + signature)
}
