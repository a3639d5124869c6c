import sys
L=[f"line {i}\n" for i in range(20)]
open('.gitattributes','w').write('* -text\n')
if sys.argv[1]=='fork': L[10]="mine\n"
s=''.join(L)
if sys.argv[1]=='up': s=s.replace('\n','\r\n')
open('a.txt','w',newline='').write(s)
