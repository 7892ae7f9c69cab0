# SPDX-License-Identifier: Apache-2.0
# Small files of Austin's MOJO format, versions 1 to 4: python3 mojo.py FOLDER
import sys
def v(n):
    s=0x40 if n<0 else 0; n=abs(n); o=[(n&0x3f)|s]; n>>=6
    while n: o[-1]|=0x80; o.append(n&0x7f); n>>=7
    return bytes(o)
def st(t): return t.encode()+b'\0'
def make(ver, mode):
    b=b'MOJ'+v(ver)
    for k,x in (('austin','3.7.0'),('mode',mode),('interval','100'),('duration','2000000')): b+=b'\1'+st(k)+st(x)
    def stack(pid,tid): return b'\2'+v(pid)+(v(0) if ver>=3 else b'')+st(tid)
    def frame(k,f,s,l): return b'\3'+v(k)+v(f)+v(s)+v(l)+(v(l)+v(1)+v(5) if ver>=2 else b'')
    b+=stack(42,'7f12')+b'\x0b'+v(100)+st('/app/main.py')+b'\x0b'+v(101)+st('main')+frame(5,100,101,10)+b'\5'+v(5)
    b+=b'\x0b'+v(5000)+st('work')+frame(6,100,5000,300)+b'\5'+v(6)
    b+=(b'\x08' if mode=='full' else b'')+b'\x09'+v(20000)+(b'\x0a'+v(-4096) if mode=='full' else b'')
    b+=stack(42,'7f12')+b'\5'+v(5)+b'\x09'+v(150)+(b'\x0a'+v(8192) if mode=='full' else b'')
    b+=stack(42,'7f13')+b'\5'+v(5)+b'\5'+v(6)+b'\6'+st('do_read')+b'\x09'+v(50)+(b'\x0a'+v(0) if mode=='full' else b'')
    if ver>=4: b+=stack(42,'7f13')+b'\x0d'+b'\x09'+v(70)+(b'\x0a'+v(0) if mode=='full' else b'')
    return b
for ver in (1,2,3,4): open(sys.argv[1]+'/mojo%d'%ver,'wb').write(make(ver,'wall' if ver!=2 else 'cpu'))
open(sys.argv[1]+'/mojofull','wb').write(make(3,'full'))
