package config
import ("testing";"os";"strings";"time")
func BenchmarkParse(b *testing.B){ src,_:=os.ReadFile("testdata/all.json5"); for b.Loop(){ Parse("f",src,env("GW_TOKEN","x"))}}
func TestBig(t *testing.T){
 for _,s:=range []string{ `{tools:{exec:{pathPrepend:[`+strings.Repeat(`'a',`,200000)+`]}}}`, `{tools:{deny:['`+strings.Repeat("*a",200000)+`']}}`, `{`+func() string{var b strings.Builder; for i:=range 50000 {b.WriteString("k"+strings.Repeat("x",i%60)+string(rune('a'+i%26))+itoa(i)+":1,")}; return b.String()}()+`}`}{
  n:=time.Now(); c,err:=Parse("f",[]byte(s),env()); if err!=nil{t.Log(err.Error()[:80])}; if c!=nil {c.ToolAllowed("a","exec")}; t.Log(len(s),time.Since(n))
 }}
func itoa(i int) string { s:=""; for ;i>0;i/=10 {s+=string(rune('0'+i%10))}; return s }
